"""Detector: one kind of symptom, looked for in a trace. Pure: no tensors, files, clocks, randomness or printing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from netmend.diagnose.measures.acting import acts
from netmend.diagnose.measures.ending import finished
from netmend.unit import Family, record, runs
from netmend.vocabulary import Symptom, Trace


class Detector:
    """`class SaturatedUnits(Detector, code="D105")`: its fields are its thresholds, each with where the number comes from (`unit.calibrated`, …).

    A detector with calibrated thresholds also has `extremes(trace) -> Mapping[str, float]`: for each such field the most
    alarming value that this trace shows, whatever the limit is; benchmarks/calibrate.py sets healthy against faulty with it.

    The docstring is its page: first line what is seen; then why it hurts; then usual causes.
    """

    code: ClassVar[str]  # "D104"; never reused
    needs_fixed_data: ClassVar[
        bool
    ]  # its question makes no sense where a program makes its own data by acting
    needs_end: ClassVar[bool]  # it tells an absence: a run that was cut short has nothing to say about it
    HEALTHY: ClassVar[Any]  # runs it must be silent about, one of them just on the quiet side: see unit.Run
    FAULTY: ClassVar[Any]

    def __init_subclass__(cls, code: str, needs_fixed_data: bool = False, needs_end: bool = False) -> None:
        cls.code, cls.needs_fixed_data, cls.needs_end = code, needs_fixed_data, needs_end
        cls.HEALTHY, cls.FAULTY = runs(cls.HEALTHY), runs(cls.FAULTY)
        DETECTORS.register(record(cls))

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        raise NotImplementedError


DETECTORS: Family[Detector] = Family("netmend.diagnose.detectors")


def applies(detector: Detector | type[Detector], trace: Trace) -> bool:
    """Whether a detector's question makes sense for this run."""
    return not (detector.needs_fixed_data and acts(trace))


def answerable(detector: Detector, trace: Trace) -> bool:
    """Whether its question can be answered for a run that ended like this one."""
    return not detector.needs_end or finished(trace)
