"""An answer with the report it answers: what `netmend.locate` gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netmend.locate.answer import Answer, RankedFile
from netmend.locate.bug_report import BugReport
from netmend.shown import Shown

if TYPE_CHECKING:
    from netmend.locate.extrinsic_checks import HereChecked


@dataclass(frozen=True)
class Located(Shown):
    """Ranked files with their evidence. Prints itself; `json()` is the form for machines (docs/json.md)."""

    report: BugReport
    answer: Answer
    name: str = ""  # of the repository
    here: HereChecked | None = None  # what this machine says, where the cause looks to lie outside the code

    @property
    def files(self) -> tuple[RankedFile, ...]:
        """Files, likeliest first."""
        return self.answer.files
