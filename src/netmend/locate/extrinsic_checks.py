"""What the machine at hand says about a report's outer cause: versions here, known problems, missing data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from netmend.environment.check import Checked, check, concerning
from netmend.environment.dataset_paths import look_at, problems_with
from netmend.environment.facts import Problem
from netmend.environment.known_bad import removed_name
from netmend.environment.packages import normalised
from netmend.locate.bug_report import BugReport
from netmend.locate.extrinsic import Extrinsic

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
