"""A neutrality analysis on the terminal: the outcome, the alternatives, the tree that led to them, what it cost."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from netmend.neutral.neutrality import Neutrality, Node
from netmend.report.neutral.words import (
    alternatives_grid,
    end_remarks,
    goal_remarks,
    step_words,
    tree_rows,
    value_words,
    verdict_words,
)
from netmend.report.signs import cells, cropped
from netmend.report.terminal import STYLES, GridTable, Remarks

_MOST_ALTERNATIVES = 12
_MOST_ROWS = 24
_INDENT = 2


def neutral_text(found: Neutrality) -> RenderableType:
    """The outcome first, then what a person needs to judge it."""
    tone, words = verdict_words(found)
    title = Text("netmend  ", style="bold").append(words, STYLES[tone])
    parts: list[RenderableType] = [title, _Indented(Remarks(goal_remarks(found)))]
    if found.alternatives:
        parts.append(_Indented(GridTable(alternatives_grid(found, _MOST_ALTERNATIVES))))
    if len(found.nodes) > 1:
        parts.append(_Indented(Tree(found)))
    parts.append(_Indented(Remarks(end_remarks(found))))
    return Group(*parts)


class Tree:
    """How the search went: configurations that were followed up or reach the goal, below the ones they come from."""

    def __init__(self, found: Neutrality) -> None:
        self.found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = list(tree_rows(self.found, shown_nodes(self.found)))
        minimal = {number for one in self.found.minimal for number in one.nodes}
        larger = {number for one in self.found.alternatives for number in one.nodes} - minimal
        marks = dict.fromkeys(minimal, "●") | dict.fromkeys(larger, "○")
        if options.ascii_only:
            marks = {number: {"●": "*", "○": "o"}[mark] for number, mark in marks.items()}
        numbers = max((len(str(node.id)) for _, node in rows), default=1)
        values = max((cells(value_words(node)) for _, node in rows), default=0)
        yield Text("search", "bold")
        for depth, node in rows[:_MOST_ROWS]:
            room = options.max_width - numbers - values - 5
            words = "  " * depth + step_words(node)
            text = cropped(words, 0, room)[0] if cells(words) > room else words
            mark = marks.get(node.id, " ")
            line = Text(f"{node.id:>{numbers}} ", "dim", no_wrap=True).append(f"{mark} ", "green")
            line.append(text + " " * (room - cells(text)), _style(node, mark))
            yield line.append(f"  {value_words(node):>{values}}")
        yield from _notes(self.found, len(rows))


def shown_nodes(found: Neutrality) -> set[int]:
    """Alternatives and what was followed up, with all that they come from."""
    wanted = {number for one in found.alternatives for number in one.nodes}
    wanted |= {node.id for node in found.nodes if node.expanded or node.parent is None}
    for number in sorted(wanted, reverse=True):
        parent = found.node(number).parent
        while parent is not None:
            wanted.add(parent)
            parent = found.node(parent).parent
    return wanted


def _style(node: Node, mark: str) -> str:
    return "" if mark.strip() or node.parent is None else "dim"


def _notes(found: Neutrality, shown: int) -> Iterator[Text]:
    notes = ["● minimal set, ○ larger set that reaches the goal"] if found.alternatives else []
    if shown > _MOST_ROWS:
        notes.append(f"{shown - _MOST_ROWS} more rows are on the page (--html)")
    if notes:
        yield Text("; ".join(notes), "dim")


class _Indented:
    """A blank line, then the part two columns in, without blanks behind the lines."""

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Segment.line()
        inner = options.update_width(max(1, options.max_width - _INDENT))
        for line in console.render_lines(self.part, inner, pad=False, new_lines=True):
            yield Segment(" " * _INDENT)
            yield from line
