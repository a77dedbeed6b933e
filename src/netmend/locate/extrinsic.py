"""Whether a bug's cause looks to lie outside the project, and what out there to look at.

Extrinsic (after Rodríguez-Pérez et al.): the failure is caused or triggered by the environment, by a requirement that changed
outside version control, or by a third-party library. The report must show it; without evidence the answer is no.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netmend.locate.bug_report import BugReport
from netmend.locate.classify import extrinsic_threshold, score_extrinsic
from netmend.locate.extrinsic_evidence import Evidence, evidence_in
from netmend.locate.extrinsic_own import plain_name

_ADVICE = {
    "library": "compare the version named with the one installed, and read its changes",
    "system": "try the same on another system",
    "python": "try the same with another Python",
    "device": "check driver, CUDA and the build of the framework",
    "service": "check whether the service, image or address still is what it was",
    "installation": "install into an empty environment and read the first error",
}
_PARTS = {
    "device": "driver",
    "system": "system",
    "python": "python",
}  # what to compare where no library is named


@dataclass(frozen=True)
class Outside:
    """Something outside the code to look at: what it is, which version the report names, and the words that led here."""

    what: str  # library, system, python, device, service, installation
    name: str | None
    versions: tuple[str, ...]  # that the report names
    quote: str
    advice: str


@dataclass(frozen=True)
class Extrinsic:
    """The probability of an outer cause, whether that is enough to say so, and why."""

    probability: float
    likely: bool
    reasons: tuple[str, ...]
    look_at: tuple[Outside, ...]


def extrinsic_of(report: BugReport, own: Iterable[str] = (), own_message: bool | None = None) -> Extrinsic:
    """Judge a report. `own` names the project's packages; `own_message`: whether its error text is one of the project's strings.

    An error text that the project itself writes speaks against an outer cause only as a reason to tell: it is not among
    what the model was trained on, so the probability stays.
    """
    own = tuple(own)
    evidence = evidence_in(report, own)
    probability = score_extrinsic(report, own).probabilities["extrinsic"]
    reasons = [f"{one.kind}: {one.quote}" for one in evidence]
    if own_message is False and report.failures:
        reasons.append("the error text is in no string of the project")
    elif own_message:
        reasons.append("against it: the project itself writes this error text")
    likely = bool(evidence) and probability > extrinsic_threshold()
    return Extrinsic(probability, likely, tuple(reasons), tuple(_outside(report, evidence)) if likely else ())


def _outside(report: BugReport, evidence: Iterable[Evidence]) -> Iterable[Outside]:
    """One entry for each thing to look at, named ones first."""
    found: dict[tuple[str, str | None], Outside] = {}
    for one in sorted(evidence, key=lambda one: one.subject is None):
        name = one.subject or _PARTS.get(one.look_at)
        key = (one.look_at if name is None else "", name)
        if key not in found:
            found[key] = Outside(one.look_at, name, _versions(report, name), one.quote, _ADVICE[one.look_at])
    return found.values()


def _versions(report: BugReport, name: str | None) -> tuple[str, ...]:
    if name is None:
        return ()
    plain = plain_name(name)
    return tuple(
        dict.fromkeys(version for library, version in report.versions if plain_name(library) == plain)
    )
