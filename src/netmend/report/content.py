"""What a report says, before anything is laid out: remarks, grids and lines of a diff, as plain strings.

The terminal and the HTML page are drawn from the same content, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from netmend.vocabulary import Fault, RunFact, Site


@dataclass(frozen=True)
class Remark:
    """One labelled line: what, in words, and the user's line it is about."""

    label: str
    text: str
    place: str = ""
    tone: str = "plain"  # plain | good | bad | warn | muted
    spark: tuple[float, ...] = ()  # values for a small curve behind the text
    tail: str = ""  # what follows the curve
    whole: bool = False  # a path or a command: never broken, however narrow the page


@dataclass(frozen=True)
class Column:
    """A column of a grid. Where the page is narrow, columns with the highest `spare` are left out first; 0 stays."""

    title: str
    cell: Callable[[Any], str] = str  # what stands in it, of the thing that its row tells of
    numeric: bool = False
    spare: int = 0
    hint: str = ""  # explains the title where there is room for a tooltip
    least: int = 24  # characters of a text before it is folded; 0: never


@dataclass(frozen=True)
class Number(Column):
    """A column of numbers: they stand to the right and are never broken."""

    numeric: bool = True


@dataclass(frozen=True)
class Grid:
    """Rows of strings under columns; `note` says what was left out or how to read it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    note: str = ""

    @classmethod
    def of(cls, things: Iterable[Any], *columns: Column, caption: str = "", note: str = "") -> Grid:
        """A row for each of several things."""
        rows = tuple(tuple(column.cell(thing) for column in columns) for thing in things)
        return cls(columns, rows, caption, note)

    def filled(self, besides: str = "") -> Grid:
        """The grid without columns in which nothing stands, or nothing besides a sign for what is unknown."""
        empty = ("", besides)
        kept = [
            index for index in range(len(self.columns)) if any(row[index] not in empty for row in self.rows)
        ]
        rows = tuple(tuple(row[index] for index in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[index] for index in kept), rows=rows)


@dataclass(frozen=True)
class Section:
    """A titled part of a report."""

    title: str
    grids: tuple[Grid, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.remarks) or any(grid.rows for grid in self.grids)


FILE, HUNK, OLD, NEW, SAME, NOTE, GAP = "file", "hunk", "old", "new", "same", "note", "gap"


@dataclass(frozen=True)
class DiffLine:
    """One line of a change, with the sign before it."""

    kind: str  # one of those above, which are also classes of the style sheet
    text: str


@dataclass(frozen=True)
class Figure:
    """A number at the top of a page, with its name and what it is to be compared with."""

    label: str
    value: str
    beside: str = ""


@dataclass(frozen=True)
class Document:
    """What a command answers: the outcome in a few words, then its parts in reading order.

    A part is remarks or a grid, left out where it is empty, or something that the terminal draws as it is.
    """

    tone: str
    verdict: str
    parts: tuple[object, ...] = ()
    opening: tuple[Remark, ...] = ()  # stands directly below the verdict
    wide: bool = False  # the tables take the whole width of the terminal


def place(site: Site | None, run: RunFact) -> str:
    """`file:line`, relative to the directory the run was started in where the file lies beneath it."""
    if site is None:
        return ""
    path = PurePath(site.file)
    if run.working_directory and path.is_absolute():
        try:
            path = path.relative_to(run.working_directory)
        except ValueError:
            return clean(site.short)
    return clean(f"{path}:{site.line}")


def clean(text: str) -> str:
    """The text on one line, with control characters (which could steer a terminal) made harmless."""
    return "".join(character if character.isprintable() else "\ufffd" for character in " ".join(text.split()))


def first_line(text: str) -> str:
    """The first non-empty line: an exception's message may go on for pages."""
    lines = [line for line in text.splitlines() if line.strip()]
    return clean(lines[0]) if lines else ""


def doubt(fault: Fault) -> Iterator[Remark]:
    """What would show that it is something else; nothing for a program that cannot run as it is."""
    if fault.refutation:
        yield Remark("wrong if", clean(fault.refutation), tone="muted")
