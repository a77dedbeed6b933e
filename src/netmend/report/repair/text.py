"""A repair on the terminal: the verdict, what was wrong, the patch, the proof, what was tried and what it cost."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from netmend.repair.result import Result
from netmend.report.content import Remark, clean
from netmend.report.numbers import sure
from netmend.report.repair.patch import NEW, OLD, DiffLine, diff_lines
from netmend.report.repair.proof import cost_remarks, proof_remarks
from netmend.report.repair.tried import tried_grid
from netmend.report.repair.words import (
    change_remarks,
    failure_remarks,
    is_healthy,
    place_words,
    verdict_words,
)
from netmend.report.signs import cells, cropped, on_screen
from netmend.report.terminal import STYLES, GridTable, Remarks
from netmend.vocabulary import Fault
from netmend.vocabulary.verification import PROVEN

_MOST_FAULTS = 3
_MOST_TRIED = 10
_INDENT = 2
_STYLES = {"file": "bold", "hunk": "cyan", "old": "red", "new": "green", "same": "", "note": "dim"}


def repair_text(result: Result, applied: bool = False) -> RenderableType:
    """Verdict first, then what a person needs to judge the patch; `applied`: no word on how to apply it."""
    tone, words = verdict_words(result)
    title = Text("netmend  ", style="bold").append(words, STYLES[tone])
    if is_healthy(result):
        return Group(title, *_failures(result))
    parts: list[RenderableType] = [title, *(_Indented(part) for part in _wrong(result))]
    if result.version.parts:
        parts.append(_Indented(Group(Remarks(change_remarks(result)), Diff(diff_lines(result)))))
    remarks = (*proof_remarks(result), *cost_remarks(result), *_end(result, applied))
    parts.append(_Indented(Remarks(remarks)))
    if result.attempts:
        parts.append(_Indented(GridTable(tried_grid(result, _MOST_TRIED))))
    return Group(*parts, *_failures(result))


class Diff:
    """Lines of a patch; changed lines that are too long go on below, others are cut."""

    def __init__(self, lines: tuple[DiffLine, ...]) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            for text in _fitted(line, max(12, options.max_width)):
                yield Text(text, _STYLES[line.kind], no_wrap=True)


def _fitted(line: DiffLine, width: int) -> Iterator[str]:
    sign, rest = (line.text[:1], line.text[1:]) if line.kind not in ("file", "hunk") else ("", line.text)
    text = on_screen(rest)[0].rstrip()
    room = width - len(sign)
    if line.kind not in (OLD, NEW):
        yield sign + cropped(text, 0, room)[0]
        return
    first = True
    while True:
        part = _beginning(text, room if first else room - 1)
        yield f"{sign}{part}" if first else f"{sign}…{part}"
        text, first = text[len(part) :], False
        if not text:
            return


def _beginning(text: str, room: int) -> str:
    """As much of a text as fits, up to a blank where there is one in its second half."""
    if cells(text) <= room:
        return text
    fits, used = 0, 0
    for sign in text:
        used += cells(sign)
        if used > room:
            break
        fits += 1
    blank = text.rfind(" ", 0, fits)
    return text[: blank + 1 if blank >= fits // 2 and text[:blank].strip() else max(1, fits)]


def _wrong(result: Result) -> Iterator[RenderableType]:
    failure = tuple(failure_remarks(result))
    if failure:
        yield Remarks(failure)
    faults = () if result.diagnosis is None else result.diagnosis.faults
    yield from (_fault(result, fault) for fault in faults[:_MOST_FAULTS])
    if len(faults) > _MOST_FAULTS:
        yield Text(f"and {len(faults) - _MOST_FAULTS} more: see netmend diagnose", "dim")
    if not faults and result.version.parts:
        yield Text("No fault was reported; the change was found by trial.", "dim")


def _fault(result: Result, fault: Fault) -> RenderableType:
    head = Text(f"{fault.title[:1].upper()}{fault.title[1:]}", "bold")
    head.append(f"  {fault.cause}, {sure(fault.confidence)}", "dim")
    where = place_words(result, fault.site)
    place = (Text(where, "cyan"),) if where else ()
    return Group(head, *place, Remarks((Remark("seen", clean(fault.summary)),)))


def _end(result: Result, applied: bool) -> Iterator[Remark]:
    if result.stopped:
        yield Remark("ended", clean(result.stopped), tone="muted")
    if result.verdict == PROVEN and result.patch and not applied:
        yield Remark("apply", "run the same command with --apply (nothing is trained again)", tone="muted")


def _failures(result: Result) -> Iterator[RenderableType]:
    if result.problems:
        yield Text(f"  parts of netmend failed: {clean('; '.join(result.problems))}", "dim")


class _Indented:
    """A blank line, then the part two columns in. Unlike rich's padding it leaves no blanks behind the lines."""

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Segment.line()
        inner = options.update_width(max(1, options.max_width - _INDENT))
        for line in console.render_lines(self.part, inner, pad=False, new_lines=True):
            yield Segment(" " * _INDENT)
            yield from line
