"""Detector: one kind of symptom, looked for in a trace. Pure: no tensors, files, clocks, randomness or printing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

from netmend.unit import Family, Run, record
from netmend.vocabulary import Symptom, Trace


class Detector(Protocol):
    """A class whose fields are its thresholds (`register` makes it a frozen record), each made by `unit.threshold` with where each number comes from.

    A detector with calibrated thresholds also has `extremes(trace) -> Mapping[str, float]`: for each such field the most
    alarming value that this trace shows, whatever the limit is; benchmarks/calibrate.py sets healthy against faulty with it.

    The docstring is its page: first line what is seen; then why it hurts; then usual causes.
    """

    code: ClassVar[str]  # "D104"; never reused
    HEALTHY: ClassVar[tuple[Run, ...]]  # runs it must be silent about, one of them just on the quiet side
    FAULTY: ClassVar[tuple[Run, ...]]

    def examine(self, trace: Trace) -> Iterator[Symptom]: ...


DETECTORS: Family[Detector] = Family("netmend.diagnose.detectors")


def register(unit: type[Any]) -> type[Any]:
    return DETECTORS.register(record(unit))
