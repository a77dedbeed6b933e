"""What was checked: for each detector, whether it spoke, found nothing, or had nothing to look at in this run.

No detector says what it needs: each one is given the trace behind a counter that notes which parts it asks for. One that is silent
after its last question met an empty part had nothing to look at; that part is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from netmend.diagnose.detector import DETECTORS, Detector, applies
from netmend.unit import page
from netmend.vocabulary import Symptom, Table, Trace
from netmend.vocabulary.facts import KIND_OF_FACT

SPOKE, PASSED, TOO_SHORT, NOT_APPLICABLE, FAILED = (
    "seen",
    "passed",
    "too little data",
    "not applicable",
    "failed",
)


@dataclass(frozen=True)
class Check:
    """One detector on one run."""

    code: str
    title: str  # what it looks for
    outcome: str
    why: str = ""


def checks(trace: Trace, symptoms: Iterable[Symptom]) -> tuple[Check, ...]:
    """Every detector, in the order of codes; `symptoms` are what they said when the run was judged."""
    spoke = {symptom.code: symptom.message for symptom in reversed(tuple(symptoms))}
    return tuple(_check(unit, trace, spoke.get(code)) for code, unit in DETECTORS.classes().items())


def _check(unit: type[Detector], trace: Trace, said: str | None) -> Check:
    title = page(unit)[0].rstrip(".")
    if said is not None:
        return Check(unit.code, title, SPOKE, said)
    if not applies(unit, trace):
        return Check(unit.code, title, NOT_APPLICABLE, "the program acts in an environment")
    detector: Any = unit()
    asked = _Asked(trace)
    try:
        for _ in detector.examine(asked):
            break
    except Exception as problem:  # noqa: BLE001 - as when the run is judged: told, and the others go on
        return Check(unit.code, title, FAILED, f"{type(problem).__name__}: {problem}")
    if asked.missing:
        return Check(unit.code, title, NOT_APPLICABLE, f"no {asked.missing} in this run")
    least = max((_least_steps(detector, name.name) for name in fields(detector)), default=0)
    if trace.run.steps < least:
        return Check(unit.code, title, TOO_SHORT, f"needs {least} steps")
    return Check(unit.code, title, PASSED)


def _least_steps(detector: Any, name: str) -> int:
    value = getattr(detector, name)
    return value if name == "least_steps" and isinstance(value, int) else 0


_IN_WORDS = {"world": "environment that an agent acts in"}  # facts whose kind is not what a user calls them


class _Asked(Trace):
    """A trace that notes what was asked for last, and whether there was any of it."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace.facts, trace.tables, trace.patterns, trace.events, trace.batches)
        object.__setattr__(self, "missing", "")

    missing: str

    def _note(self, what: str, there: bool) -> None:
        object.__setattr__(self, "missing", "" if there else what)

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        if name in ("patterns", "batches"):
            self._note({"patterns": "training loop", "batches": "batch"}[name], bool(value))
        return value

    def all(self, kind: type[Any]) -> tuple[Any, ...]:
        found = super().all(kind)
        name = KIND_OF_FACT[kind]
        if name != "probe":  # `probes` says which
            self._note(_IN_WORDS.get(name, name), bool(found))
        return found

    def probes(self, what: str) -> tuple[Any, ...]:
        found = super().probes(what)
        self._note(f"experiment {what!r}", bool(found))
        return found

    def table(self, kind: str, component: str = "") -> Table:
        found = super().table(kind, component)
        self._note(f"{kind} record", len(found) > 0)
        return found

    def tables_of(self, kind: str) -> Iterator[Table]:
        found = list(super().tables_of(kind))
        self._note(f"{kind} record", any(len(table) for table in found))
        return iter(found)


def by_outcome(found: Iterable[Check]) -> Mapping[str, tuple[Check, ...]]:
    """Groups in the order in which a reader wants them."""
    order = (SPOKE, FAILED, PASSED, TOO_SHORT, NOT_APPLICABLE)
    every = tuple(found)
    return {outcome: group for outcome in order if (group := tuple(c for c in every if c.outcome == outcome))}
