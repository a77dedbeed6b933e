"""Fault and Diagnosis: a cause at a place, with the evidence for it, and the ranked list of them."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.vocabulary.change import Patch
from netmend.vocabulary.finding import Finding
from netmend.vocabulary.site import Site
from netmend.vocabulary.symptom import Symptom

HEALTHY, FAULTY, UNDECIDED, CRASHED = "healthy", "faulty", "undecided", "crashed"


@dataclass(frozen=True)
class Evidence:
    """One reason for (weight above 0) or against (below 0) a cause; the weight is in natural log-odds."""

    message: str
    weight: float
    symptom: str = ""  # code of the detector that saw it; "" when it is a fact of the program
    step: int | None = None


@dataclass(frozen=True)
class Fault:
    """A cause of the taxonomy at a place in the user's program."""

    cause: str  # leaf of the taxonomy: "HYP-LR-HIGH"
    confidence: float  # 0..1
    component: str  # "optimizer", "model.fc2", "cross_entropy@train.py:31"
    site: Site | None  # the line to change
    summary: str  # what was seen, with numbers: one or two sentences
    reason: str  # why that hurts: one sentence
    remedy: str  # what to change, concretely
    refutation: str  # what would show that this is not the cause; "" where the program cannot run as it is
    evidence: tuple[Evidence, ...] = ()
    # other lines that take part: where a layer is called, where a value is used
    related: tuple[Site, ...] = ()
    first_step: int | None = None  # earliest step at which it showed
    explains: frozenset[str] = frozenset()  # codes of the symptoms that are accounted for once this is true
    title: str = ""  # the cause in a few words
    aliases: tuple[str, ...] = ()  # published codes of the same fault: "HLR"
    edit: Patch | None = None  # the remedy as a change of the user's files, where one is known

    @property
    def symptoms(self) -> tuple[str, ...]:
        """Codes of the symptoms that speak for it, strongest first, each once."""
        ordered = sorted(self.evidence, key=lambda item: -item.weight)
        return tuple(dict.fromkeys(item.symptom for item in ordered if item.symptom and item.weight > 0))


@dataclass(frozen=True)
class Advice:
    """Something worth knowing that is no reason to wake a person: style, waste, an unlikely suspect."""

    code: str
    message: str
    site: Site | None = None


@dataclass(frozen=True)
class Crash:
    """The exception that ended the program, and what is known about it beyond its message."""

    exception: str  # the type: "RuntimeError"
    message: str
    site: Site | None  # where the user's program raised
    step: int  # steps that were done
    notes: tuple[str, ...] = ()  # sentences: the layer and what it wants, how the batch differs


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a run, most likely first. An empty list of faults is the most frequent answer."""

    verdict: str  # healthy | faulty | undecided | crashed (and no fault is told)
    faults: tuple[Fault, ...] = ()
    suspects: tuple[Fault, ...] = ()  # too weak to be told, or explained by a stronger fault
    advice: tuple[Advice, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    reason: str = ""  # why the verdict is what it is, in one sentence
    failures: tuple[str, ...] = ()  # detectors or causes that failed on this trace, and how
    findings: tuple[Finding, ...] = ()  # of `netmend check` in the files of the run
    headline: str = ""  # what happened to the run as a whole, where that comes first: "crashed at train.py:7"
    story: tuple[str, ...] = ()  # sentences that belong to the headline
    crash: Crash | None = None
