"""The answer: ranked files and functions with the evidence for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from netmend.locate.bug_report import BugReport
from netmend.shown import Shown

if TYPE_CHECKING:
    from netmend.locate.classify import Kind
    from netmend.locate.extrinsic import Extrinsic, HereChecked


# What `netmend locate` answers: ranked files with their evidence, functions inside them, and what to know beside.


@dataclass(frozen=True)
class Reason:
    """One piece of evidence. `kind` is a plain word (words, frame, path, module, name, message, line, change, ...)."""

    kind: str
    text: str
    line: int | None = None
    weight: float = 0.0  # share of the file's score; orders the reasons
    words: tuple[str, ...] = ()  # where the evidence is words of the report


@dataclass(frozen=True)
class RankedFunction:
    name: str  # qualified: Class.method
    line: int
    end: int
    score: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class RankedFile:
    path: str
    score: float
    reasons: tuple[Reason, ...] = ()
    functions: tuple[RankedFunction, ...] = ()
    blob: str = ""  # content identity, so that line numbers can be told to be of this content


@dataclass(frozen=True)
class Answer:
    files: tuple[RankedFile, ...]
    candidates: int
    kind: Kind | None = None
    extrinsic: Extrinsic | None = None
    notes: tuple[str, ...] = ()  # what was left out, cut or missing, in sentences
    revision: str | None = None  # the commit searched; None: files as they lie in the folder
    root: str | None = None  # folder that paths are relative to, where there is one on disk
    seconds: dict[str, float] = field(default_factory=dict)  # by stage: index, query


# An answer with the report it answers: what `netmend.locate` gives.


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
