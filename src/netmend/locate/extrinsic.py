"""Whether the cause of a report lies outside the code, and what this machine says about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from netmend.environment.check import Checked, check, concerning
from netmend.environment.dataset_paths import look_at, problems_with
from netmend.environment.facts import Problem
from netmend.environment.known_bad import removed_name
from netmend.environment.packages import normalised
from netmend.locate.bug_report import BugReport
from netmend.locate.classify import extrinsic_threshold, score_extrinsic
from netmend.locate.extrinsic_evidence import Evidence, evidence_in, plain_name

# Whether a bug's cause looks to lie outside the project, and what out there to look at.
#
# Extrinsic (after Rodríguez-Pérez et al.): the failure is caused or triggered by the environment, by a requirement that changed
# outside version control, or by a third-party library. The report must show it; without evidence the answer is no.

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


# What the machine at hand says about a report's outer cause: versions here, known problems, missing data.

_MISSING_FILE = re.compile(
    r"(?:No such file or directory|does not exist|not found)[^'\"]*['\"](?P<path>/[^'\"]+)['\"]"
)
_IMPORTED = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "skimage": "scikit-image",
}


@dataclass(frozen=True)
class Here:
    """A library or part that the report names: the versions there, and the one here (None: not installed)."""

    name: str
    reported: tuple[str, ...]
    installed: str | None

    @property
    def differs(self) -> bool:
        return self.installed is not None and bool(self.reported) and self.installed not in self.reported


@dataclass(frozen=True)
class HereChecked:
    versions: tuple[Here, ...]
    problems: tuple[Problem, ...]


def check_here(
    report: BugReport, found: Extrinsic, folder: Path, checked: Checked | None = None
) -> HereChecked:
    """Compare what the report names with this machine. `folder` is the project's."""
    checked = checked or check(folder)
    environment = checked.environment
    versions = []
    for outside in found.look_at:
        if outside.name is not None:
            name = _IMPORTED.get(outside.name, outside.name)
            have = environment.version(name) or environment.version(normalised(name))
            versions.append(Here(name, outside.versions, have))
    about = [one.name for one in versions]
    known = concerning(checked.problems, about) if about else ()
    return HereChecked(tuple(versions), (*_removed(report), *known, *_missing(report)))


def _removed(report: BugReport) -> Iterator[Problem]:
    """Messages that miss a name which a library is known to have removed."""
    seen: set[str] = set()
    for failure in report.failures:
        entry = removed_name(failure.message)
        if entry is not None and entry["name"] not in seen:
            seen.add(entry["name"])
            what = f"{entry['library']} removed {entry['name']} in {entry['since']}."
            yield Problem("bad", entry["library"], what, entry["instead"], entry["source"])


def _missing(report: BugReport) -> Iterator[Problem]:
    """Files that the report's errors miss, looked for on this machine."""
    for failure in report.failures:
        if match := _MISSING_FILE.search(failure.message):
            yield from problems_with(look_at(Path(match["path"])))
