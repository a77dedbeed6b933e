"""What detectors say: how strong each symptom is, when the first came, and the most alarming value beside each calibrated limit."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from functools import lru_cache

from netmend.diagnose.detector import DETECTORS, Detector
from netmend.unit import page
from netmend.vocabulary import Symptom, Trace
from ranking.features.numbers import NAN, number

_STRONGEST = 4.0  # decades beyond the limit; more says nothing more
GROUPS = {
    "numbers": "D1",
    "loop": "D2",
    "data": "D3",
    "output": "D4",
    "curve": "D5",
    "experiment": "D6",
    "crash": "D7",
}


@lru_cache(maxsize=1)
def words() -> dict[str, str]:
    """Names and meanings; the detectors are loaded for them."""
    found: dict[str, str] = {}
    for code, unit in DETECTORS.classes().items():
        title = page(unit)[0].rstrip(".")
        found[f"{code}"] = f"strength of {code}: {title[:1].lower()}{title[1:]}"
        for field in _calibrated(unit):
            found[f"{code}.{field}"] = f"what {code} measures against its {field.replace('_', ' ')}"
    for group in GROUPS:
        found[f"first_{group}"] = f"share of the run before the first symptom of the {group}"
        found[f"number_{group}"] = f"number of different symptoms of the {group}"
    return found


def of(trace: Trace, symptoms: Iterable[Symptom]) -> dict[str, float]:
    shown = tuple(symptoms)
    found = dict.fromkeys(DETECTORS.classes(), 0.0)
    for symptom in shown:
        found[symptom.code] = max(found.get(symptom.code, 0.0), strength(symptom))
    for group, prefix in GROUPS.items():
        own = [symptom for symptom in shown if symptom.code.startswith(prefix)]
        steps = [symptom.first_step or 0 for symptom in own]
        found[f"first_{group}"] = min(1.0, min(steps) / max(1, trace.run.steps)) if steps else NAN
        found[f"number_{group}"] = float(len({symptom.code for symptom in own}))
    return found | _extremes(trace)


def strength(symptom: Symptom) -> float:
    """1 for a symptom that is just there, one more for every decade beyond its limit."""
    observed, limit = symptom.observed, symptom.limit
    if observed is None or limit is None or observed * limit <= 0 or not math.isfinite(observed):
        return 1.0
    return 1.0 + min(_STRONGEST, abs(math.log10(observed / limit)))


def _extremes(trace: Trace) -> dict[str, float]:
    found: dict[str, float] = {}
    for code, unit in DETECTORS.classes().items():
        measure = getattr(unit(), "extremes", None)
        if measure is None:
            continue
        try:
            values = measure(trace)
        except Exception:  # noqa: BLE001 - a detector that fails here is told by `examine`; its values are missing
            continue
        found |= {f"{code}.{field}": number(values[field]) for field in _calibrated(unit) if field in values}
    return found


def _calibrated(unit: type[Detector]) -> list[str]:
    fields = dataclasses.fields(unit)  # type: ignore[arg-type]
    return [field.name for field in fields if field.metadata.get("basis") == "calibrated"]
