"""Case: everything that is known when causes are weighed: the trace, its symptoms, the user's source and what was found in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from netmend.program.text.sources import Sources
from netmend.vocabulary import Symptom, Trace
from netmend.vocabulary.finding import Finding


@dataclass(frozen=True, eq=False)
class Case:
    trace: Trace
    symptoms: tuple[Symptom, ...] = ()
    sources: Sources = field(default_factory=Sources)
    findings: tuple[Finding, ...] = ()  # of `netmend check` in the program's own files, paths absolute

    def of(self, *codes: str) -> tuple[Symptom, ...]:
        """The symptoms with one of the codes, earliest first."""
        return tuple(symptom for symptom in self.symptoms if symptom.code in codes)

    def first(self, *codes: str) -> Symptom | None:
        return next(iter(self.of(*codes)), None)

    def has(self, *codes: str) -> bool:
        return self.first(*codes) is not None
