"""Detector: one kind of symptom, looked for in a trace. Pure: no tensors, files, clocks, randomness or printing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from netmend.diagnose.measures.acting import acts
from netmend.diagnose.measures.chain import Link
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.loop import Misplaced
from netmend.unit import Family, record, runs
from netmend.vocabulary import (
    AgentFact,
    Call,
    Event,
    LoaderFact,
    LossFact,
    ModuleFact,
    ProbeFact,
    Site,
    Symptom,
    Trace,
    WorldFact,
)

# What something can be seen at: the name of a component, a name and a line, or what knows both itself.
At = (
    str
    | tuple[str, Site | None]
    | ProbeFact
    | Event
    | Call
    | Link
    | Misplaced
    | LossFact
    | WorldFact
    | AgentFact
    | LoaderFact
    | ModuleFact
)


# Of values, loops and experiments the loss itself; of data, losses and curves the one that is relative to a constant prediction.
_FIGURES = {**dict.fromkeys(("D1", "D2", "D6"), "loss"), **dict.fromkeys(("D3", "D4", "D5"), "relative loss")}


class Detector:
    """`class SaturatedUnits(Detector, code="D105")`: its fields are its thresholds, each with where the number comes from (`unit.calibrated`, …).

    A detector with calibrated thresholds also has `extremes(trace) -> Mapping[str, float]`: for each such field the most
    alarming value that this trace shows, whatever the limit is; benchmarks/calibrate.py sets healthy against faulty with it.

    The docstring is its page: first line what is seen; then why it hurts; then usual causes.
    """

    code: ClassVar[str]  # "D104"; never reused
    # its question makes no sense where a program makes its own data by acting
    needs_fixed_data: ClassVar[bool]
    needs_end: ClassVar[bool]  # it tells an absence: a run that was cut short has nothing to say about it
    figure: ClassVar[str]  # how the title of the figure begins that shows it: by default the loss
    HEALTHY: ClassVar[Any]  # runs it must be silent about, one of them just on the quiet side: see unit.Run
    FAULTY: ClassVar[Any]

    def __init_subclass__(
        cls, code: str, needs_fixed_data: bool = False, needs_end: bool = False, figure: str = ""
    ) -> None:
        cls.code, cls.needs_fixed_data, cls.needs_end = code, needs_fixed_data, needs_end
        cls.figure = figure or _FIGURES.get(code[:2], "")
        cls.HEALTHY, cls.FAULTY = runs(cls.HEALTHY), runs(cls.FAULTY)
        DETECTORS.register(record(cls))

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        raise NotImplementedError

    def symptom(
        self,
        message: str,
        at: At = "",
        observed: float | None = None,
        limit: float | None = None,
        detail: Mapping[str, Any] | None = None,
        **place: Any,
    ) -> Symptom:
        """What is seen, and at what: component, line (`site`) and `first_step` are its own, unless `place` has others."""
        seen = {**_place(at), **place}
        return Symptom(self.code, message, observed=observed, limit=limit, detail=detail or {}, **seen)


def _place(at: At) -> dict[str, Any]:
    match at:
        case str():
            return {"component": at}
        case tuple():
            return {"component": at[0], "site": at[1]}
        case Misplaced():
            return {"component": at.call.component, "site": at.call.site, "first_step": at.since}
        case ProbeFact() | Event():
            return {"component": at.component, "site": at.site, "first_step": at.step}
        case Call():
            return {"component": at.component, "site": at.site}
        case Link():
            return {"component": at.name, "site": at.site}
        case LossFact():
            return {"component": at.name, "site": at.called}
        case WorldFact():
            return {"component": at.name, "site": at.stepped}
        case _:
            return {"component": at.name, "site": at.created}


DETECTORS: Family[Detector] = Family("netmend.diagnose.detectors")


def applies(detector: Detector | type[Detector], trace: Trace) -> bool:
    """Whether a detector's question makes sense for this run."""
    return not (detector.needs_fixed_data and acts(trace))


def answerable(detector: Detector, trace: Trace) -> bool:
    """Whether its question can be answered for a run that ended like this one."""
    return not detector.needs_end or finished(trace)
