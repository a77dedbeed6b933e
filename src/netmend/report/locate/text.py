"""Where a bug lies, on the terminal: files with their evidence and functions, then what to look at outside the code."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.text import Text

from netmend.locate.answer import RankedFile, Reason
from netmend.locate.located import Located
from netmend.report.content import Remark, clean
from netmend.report.locate.outside import kind_remarks, outside_remarks
from netmend.report.locate.words import (
    function_words,
    line_of,
    reason_words,
    report_words,
    searched_words,
    standing_words,
    vague_words,
    verdict_words,
)
from netmend.report.numbers import duration
from netmend.report.signs import harmless
from netmend.report.terminal import PLACE_STYLE, Remarks, blank

_MOST_REASONS = 4  # of one file; --json has all
_LATER_REASONS = 2  # of files after the first few
_FULLY_TOLD = 3
_MOST_FUNCTIONS = 3
_INDENT = 5


def locate_text(found: Located) -> RenderableType:
    """The files first; what lies outside the code before the notes."""
    title = Text("netmend  ", style="bold").append(
        verdict_words(found), "bold green" if found.files else "yellow"
    )
    parts: list[RenderableType] = [title, Remarks(_head(found), indent=2)]
    for rank, file in enumerate(found.files, 1):
        parts += [blank(), FileEntry(rank, file, found.answer.root, standing_words(file, found.files[0]))]
    if outside := tuple(outside_remarks(found)):
        parts += [blank(), Text("outside the code", "bold"), Remarks(outside, indent=2)]
    if foot := _foot(found):
        parts += [blank(), Remarks(foot, indent=2)]
    return Group(*parts)


class FileEntry:
    """One ranked file: its place, the functions to begin with, why it ranks where it does."""

    def __init__(self, rank: int, file: RankedFile, root: str | None, standing: str = "") -> None:
        self.rank, self.file, self.root, self.standing = rank, file, root, standing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = line_of(self.file)
        words = harmless(self.file.path) + (f":{line}" if line is not None else "")
        # Never broken or cut: editors and terminals open `path:line` only where it stands whole.
        place = Text(f"{self.rank:>{_INDENT - 2}}  ", "bold", no_wrap=True, overflow="ignore")
        place.append(words, Style.parse(PLACE_STYLE) + link(self.root, self.file.path))
        yield place.append(f"  {self.standing}", "dim") if self.standing else place
        fully = self.rank <= _FULLY_TOLD
        remarks = [
            Remark("in", function_words(one))
            for one in self.file.functions[: _MOST_FUNCTIONS if fully else 1]
        ]
        reasons = self.file.reasons[: _MOST_REASONS if fully else _LATER_REASONS]
        remarks += [_reason(reason) for reason in reasons]
        yield Remarks(remarks, indent=_INDENT)


def link(root: str | None, path: str) -> Style:
    """A link to the file, where it lies on this machine."""
    return Style() if root is None else Style(link=(Path(root).absolute() / path).as_uri())


def _reason(reason: Reason) -> Remark:
    return Remark(clean(reason.kind), reason_words(reason), tone="muted")


def _head(found: Located) -> list[Remark]:
    title = f"{clean(found.report.title)} – " if found.report.title else ""
    vague = vague_words(found)
    return [
        *([Remark("too vague", vague, tone="warn")] if vague and found.files else []),
        Remark("report", f"{title}{report_words(found)}"),
        Remark("searched", searched_words(found)),
        *kind_remarks(found),
    ]


def _foot(found: Located) -> list[Remark]:
    remarks = [Remark("note", clean(note), tone="warn") for note in found.answer.notes]
    if seconds := found.answer.seconds:
        spent = ", ".join(f"{clean(stage)} {duration(value)}" for stage, value in seconds.items())
        remarks.append(Remark("time", spent, tone="muted"))
    return remarks
