"""Feeds a trace to the detectors; one that fails is told, and takes no other down."""

from __future__ import annotations

from collections.abc import Iterable

from netmend.diagnose.detector import DETECTORS, Detector, answerable, applies
from netmend.vocabulary import Symptom, Trace


def examine(
    trace: Trace, detectors: Iterable[Detector] | None = None
) -> tuple[tuple[Symptom, ...], tuple[str, ...]]:
    """All symptoms, earliest first, and which detectors failed on this trace."""
    found: list[Symptom] = []
    failures: list[str] = []
    chosen = DETECTORS.all() if detectors is None else tuple(detectors)
    failures.extend(DETECTORS.problems)
    for detector in chosen:
        try:
            if applies(detector, trace) and answerable(detector, trace):
                found.extend(detector.examine(trace))
        except Exception as problem:  # noqa: BLE001 - one detector's mistake must not cost the whole diagnosis
            failures.append(f"{detector.code} ({type(problem).__name__}: {problem})")
    found.sort(key=lambda symptom: -1 if symptom.first_step is None else symptom.first_step)
    return tuple(found), tuple(failures)
