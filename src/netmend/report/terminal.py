"""The terminal: consoles, and how remarks, grids and curves are laid out in characters."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import IO, cast

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from netmend.report.content import DiffLine, Document, Grid, Remark
from netmend.report.signs import cells, cropped, on_screen, spelled
from netmend.report.textplot import sparkline

LOG_WIDTH = 100  # columns where there is no terminal: log viewers rarely show more

STYLES = {"plain": "", "good": "bold green", "bad": "bold red", "warn": "yellow", "muted": "dim"}
_TRAILING = re.compile(r"[ \t]+(?=\n)")
LABEL_STYLE = "bold"
PLACE_STYLE = "cyan"
_DIFF_STYLES = {"file": "bold", "hunk": "cyan", "old": "red", "new": "green", "same": "", "note": "dim"}
_INDENT = 2  # columns before what stands below a verdict


class _Stream:
    """A stream that is no terminal, or whose encoding lacks our signs.

    Blanks at line ends, which rich fills tables up with, are left out; signs are spelled in ASCII rather than failing the report.
    """

    def __init__(self, stream: IO[str], encoding: str) -> None:
        self._stream = stream
        self.encoding = encoding

    def write(self, text: str) -> int:
        self._stream.write(spelled(_TRAILING.sub("", text), self.encoding))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def getvalue(self) -> str:
        return str(self._stream.getvalue())  # type: ignore[attr-defined]  # of a StringIO


def console(stream: IO[str], no_color: bool | None = None) -> Console:
    """A console on the stream: NO_COLOR is honoured, a terminal's width is taken, also behind a pipe; logs get 100 columns."""
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    isatty = getattr(stream, "isatty", None)
    on_terminal = bool(isatty and isatty())
    plain = not on_terminal or not encoding.startswith("utf")
    target = cast("IO[str]", _Stream(stream, encoding)) if plain else stream
    given = os.environ.get("COLUMNS", "")
    return Console(
        file=target,
        no_color=no_color,
        width=None if on_terminal else int(given) if given.isdigit() and int(given) > 0 else _width(stream),
        highlight=False,
        markup=False,
        emoji=False,
        # The stream was chosen by the caller; in a notebook rich would otherwise display elsewhere.
        force_jupyter=False,
    )


def _width(stream: IO[str]) -> int:
    """Of what is no terminal: `netmend show | less` ends on one, whose width the other streams know."""
    try:
        if not stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
            return LOG_WIDTH
    except (OSError, ValueError, AttributeError):
        return LOG_WIDTH
    for other in (sys.__stderr__, sys.__stdin__, sys.__stdout__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            return os.get_terminal_size(cast("IO[str]", other).fileno()).columns or LOG_WIDTH
    return LOG_WIDTH


def remark_text(remark: Remark, plain: bool = False) -> Text:
    """The remark's words, its small curve and its place, ready to wrap."""
    text = Text(remark.text, style=STYLES[remark.tone])
    if curve := sparkline(remark.spark, plain):
        text.append("  ").append(curve, "green")
    if remark.tail:
        text.append("  ").append(remark.tail)
    if remark.place:
        text.append("  ").append(remark.place, PLACE_STYLE)
    return text


class Remarks:
    """Labels in one column, texts in the next; a label is not repeated for the lines below it."""

    def __init__(self, remarks: Iterable[Remark], indent: int = 0, width: int = 0) -> None:
        self.remarks = tuple(remarks)
        self.indent = indent
        self.width = max([width, *(cell_len(remark.label) for remark in self.remarks)])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Laid out by hand: a rich table would pad every line with blanks up to the right edge.
        margin = self.indent + 2 + self.width  # `width`: of the labels of what stands above or below
        previous = ""
        for remark in self.remarks:
            style = STYLES["bad"] if remark.tone == "bad" else LABEL_STYLE
            label = "" if remark.label == previous else remark.label
            previous = remark.label
            text = remark_text(remark, options.ascii_only)
            lines = [text] if remark.whole else text.wrap(console, max(10, options.max_width - margin))
            for line in lines:
                line.rstrip()
                head = Text(" " * self.indent).append(label, style)
                head.append(" " * (margin - head.cell_len))
                label = ""
                whole = head + line
                if remark.whole:
                    whole.no_wrap, whole.overflow = True, "ignore"
                yield whole


class Indented:
    """A text moved to the right, without the blanks at line ends that rich's own padding writes."""

    def __init__(self, text: Text, indent: int = 2) -> None:
        self.text, self.indent = text, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.wrap(console, max(10, options.max_width - self.indent)):
            line.rstrip()
            yield Text(" " * self.indent) + line


class GridTable:
    """A grid as a table that leaves out its most dispensable columns until it fits, and says which."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        grid = self.grid.filled()
        kept, dropped = fitting(grid, options.max_width)
        if grid.caption:
            yield Text(grid.caption, style="bold")
        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="dim", show_edge=False
        )
        for index in kept:
            column = grid.columns[index]
            table.add_column(
                Text(column.title),
                justify="right" if column.numeric else "left",
                no_wrap=column.numeric or not column.least,
                overflow="fold",
            )
        for row in grid.rows:
            # `softmax@train.py:58` breaks before the place where it must, never inside the line number.
            table.add_row(
                *(Text(row[index].replace("@", " @") if "@" in row[index] else row[index]) for index in kept)
            )
        yield table
        notes = [grid.note] if grid.note else []
        if dropped:
            notes.append(f"Not shown in {options.max_width} columns: {', '.join(dropped)}.")
        if notes:
            yield Text(" ".join(notes), style="dim")


def fitting(grid: Grid, width: int) -> tuple[list[int], list[str]]:
    """Columns that fit side by side (a text column may fold to a third), and the titles of those left out."""

    def needed(index: int) -> int:
        column = grid.columns[index]
        widest = max((cell_len(row[index]) for row in grid.rows), default=0)
        # Long text may wrap; numbers, and what is short anyway, may not.
        if not column.numeric and column.least:
            widest = min(widest, max(column.least, widest // 3))
        return max(cell_len(column.title), widest)

    kept = list(range(len(grid.columns)))
    dropped: list[str] = []
    while sum(needed(index) + 3 for index in kept) - 3 > width:
        spare = max(kept, key=lambda index: grid.columns[index].spare)
        if grid.columns[spare].spare == 0:
            break
        kept.remove(spare)
        dropped.append(grid.columns[spare].title)
    return kept, dropped


class Diff:
    """Lines of a patch; changed lines that are too long go on below, others are cut."""

    def __init__(self, lines: tuple[DiffLine, ...]) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            for text in _fitted(line, max(12, options.max_width)):
                yield Text(text, _DIFF_STYLES[line.kind], no_wrap=True)


def _fitted(line: DiffLine, width: int) -> Iterator[str]:
    sign, rest = (line.text[:1], line.text[1:]) if line.kind not in ("file", "hunk") else ("", line.text)
    text = on_screen(rest)[0].rstrip()
    room = width - len(sign)
    if line.kind not in ("old", "new"):
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


class Inset:
    """A part two columns in. Unlike rich's padding it leaves no blanks behind the lines, and cuts nothing off."""

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update_width(max(1, options.max_width - _INDENT))
        for line in Segment.split_lines(console.render(self.part, inner)):
            yield Segment(" " * _INDENT)
            yield from line
            yield Segment.line()


def title(tone: str, verdict: str) -> Text:
    """The first line of an answer."""
    return Text("netmend  ", style="bold").append(verdict, STYLES[tone])


def draw(document: Document) -> RenderableType:
    """A document on the terminal: the outcome first, then its parts with a blank line before each."""
    parts: list[RenderableType] = [title(document.tone, document.verdict)]
    if document.opening:
        parts.append(Remarks(document.opening, _INDENT))
    for part in document.parts:
        if isinstance(part, Grid):
            table = GridTable(part)
            parts += [blank(), table if document.wide else Inset(table)] if part.rows else []
        elif isinstance(part, tuple):
            parts += [blank(), Remarks(part, _INDENT)] if part else []
        else:
            parts += [blank(), cast("RenderableType", part)]
    return Group(*parts)


def blank() -> RenderableType:
    return Text("")


def as_text(shown: RenderableType, no_color: bool | None = None) -> str:
    """What would be printed, for results that show themselves."""
    stream = StringIO()
    console(stream, no_color).print(shown)
    return stream.getvalue().rstrip()
