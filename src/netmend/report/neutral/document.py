"""A neutrality analysis as it is told: the alternatives, the tree that led to them, what it cost; and its JSON (docs/neutral.md)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from netmend.neutral.alternatives import error_of, reaches
from netmend.neutral.neutrality import (
    BEST,
    FAILED,
    FIX,
    GIVEN_UP,
    KEPT,
    LIKE,
    OPEN,
    SAME,
    WORSE,
    Alternative,
    Neutrality,
    Node,
)
from netmend.report.content import Column, Document, Grid, Remark, clean
from netmend.report.machine import Fields
from netmend.report.numbers import duration, mean_words, measure, plural, setting
from netmend.report.patches import change_data
from netmend.report.repair.words import metric_words, objective_data
from netmend.report.signs import cells, cropped
from netmend.report.terminal import Inset

_MOST_ALTERNATIVES = 12
_MOST_ROWS = 24
AS_IS = "the original program"

FATES = {
    KEPT: "as good as its parent",
    WORSE: "worse than its parent",
    GIVEN_UP: "given up: clearly worse",
    FAILED: "fails",
    SAME: "no effect: trains exactly like its parent",
    OPEN: "looked close, but the budget ended before all seeds",
}


def neutral_document(found: Neutrality) -> Document:
    """The outcome first, then what a person needs to judge it."""
    return Document(
        *verdict_words(found),
        (
            tuple(goal_remarks(found)),
            alternatives_grid(found, _MOST_ALTERNATIVES),
            *((Inset(Tree(found)),) if len(found.nodes) > 1 else ()),
            tuple(end_remarks(found)),
        ),
    )


def verdict_words(found: Neutrality) -> tuple[str, str]:
    """The tone (good, warn, bad) and the outcome in a few words."""
    if found.objective is None:
        return "bad", "No metric was found; name one with --metric"
    if found.goal.value is None and found.goal.kind == FIX:
        return (
            "bad",
            "Nothing can be compared with the known fix: it did not finish training, or does not print the metric",
        )
    count = len(found.minimal)
    if len(found.nodes) == 1:
        return "warn", "No change was tried"
    if not count:
        return "warn", {
            FIX: "No other change does as well as the known fix",
            LIKE: f"No change reaches {setting(found.goal.value)}",
            BEST: "No change does as well as the original program",
        }[found.goal.kind]
    ways = plural(count, "minimal fix", "minimal fixes")
    does = "does" if count == 1 else "do"
    only = f": {changes_words(found.node(found.minimal[0].nodes[0]))}" if count == 1 else ""
    return "good", {
        FIX: f"{ways} {does} as well as the known fix",
        LIKE: f"{ways} {'reaches' if count == 1 else 'reach'} {setting(found.goal.value)}",
        BEST: f"{ways} found{only}",
    }[found.goal.kind]


def metric_name(found: Neutrality) -> str:
    return "value" if found.objective is None else metric_words(found.objective)


def goal_remarks(found: Neutrality) -> Iterator[Remark]:
    """The program as it is, the goal, what counts and how it is compared."""
    name = metric_name(found)
    yield Remark(
        "original",
        f"{name} {mean_words(found.original.values) if found.original.values else '(not trained)'}",
        tail=clean(found.original.note),
    )
    goal = found.goal
    if goal.kind == LIKE:
        yield Remark("goal", f"{name} {setting(goal.value)}, as you set it")
    elif goal.value is not None:
        source = "the known fix" if goal.kind == FIX else "the best found"
        beside = "" if goal.node is None else f", configuration {goal.node}"
        yield Remark("goal", f"{name} {mean_words(goal.values)}, {source}{beside}")
    if found.objective is not None and goal.value is not None:
        if goal.kind != BEST and reaches(found.objective, found.original, goal, found.original):
            yield Remark(
                "note",
                "the original program already reaches the goal: the changes are neutral, not repairs",
                tone="warn",
            )
        way = "higher" if found.objective.higher_is_better else "lower"
        yield Remark("metric", f"{clean(found.objective.name)}; {way} is better", tone="muted")
        yield Remark("compared", compared_words(found), tone="muted")


def compared_words(found: Neutrality) -> str:
    seeds = f"means over {plural(len(found.seeds), 'seed')}"
    if found.goal.kind == LIKE:
        return f"{seeds}; the mean has to reach that value"
    return f"{seeds}; “as good” = within 1 standard error of the difference, or 1 % of the way to the goal"


def end_remarks(found: Neutrality) -> Iterator[Remark]:
    """What was looked at, what it cost, why it ended."""
    fates = Counter(node.status for node in found.nodes[1:])
    told = [f"{fates[status]} {_SHORT[status]}" for status in FATES if fates[status]]
    beside = f"; {plural(found.untried, 'more change')} not tried" if found.untried else ""
    yield Remark(
        "looked at", f"{plural(len(found.nodes) - 1, 'configuration')}: {', '.join(told) or 'none'}{beside}"
    )
    spent = setting(float(f"{found.trainings:.1f}"))
    yield Remark("cost", f"{spent} trainings (budget {found.budget}); {duration(found.seconds)} in all")
    if found.stopped:
        yield Remark("ended", clean(found.stopped), tone="muted")
    if found.problems:
        yield Remark("failures", f"parts of netmend failed: {clean('; '.join(found.problems))}", tone="warn")


_SHORT = {
    KEPT: "as good as its parent",
    WORSE: "worse",
    GIVEN_UP: "given up",
    FAILED: "failed",
    SAME: "without effect",
    OPEN: "left open",
}


def alternatives_grid(found: Neutrality, most: int | None = None) -> Grid:
    """One row for each set of changes, with its best configuration."""
    shown = found.alternatives[:most]
    rows = []
    for one in shown:
        node = found.node(one.nodes[0])
        rows.append(
            (
                str(node.id),
                changes_words(node),
                mean_words(node.values),
                str(node.lines),
                setting(float(f"{node.cost:.2g}")),
                standing_words(one),
            )
        )
    left = len(found.alternatives) - len(shown)
    columns = (
        Column("no.", numeric=True, hint="number of the configuration"),
        Column("what changes"),
        Column(metric_name(found), numeric=True, hint="mean and standard deviation over the seeds"),
        Column("lines", numeric=True, hint="lines of source that differ from the original program"),
        Column("cost", numeric=True, spare=1, hint="of one training, in trainings of the original program"),
        Column("set"),
    )
    return Grid(columns, tuple(rows), note=f"and {plural(left, 'larger set')}" if left else "")


def standing_words(one: Alternative) -> str:
    """`minimal`, or which smaller sets are part of it."""
    if one.minimal:
        return "minimal"
    return f"contains {', '.join(map(str, one.contains[:3]))}{' …' if len(one.contains) > 3 else ''}"


def changes_words(node: Node) -> str:
    return AS_IS if not node.version.parts else clean("; ".join(node.titles))


def step_words(node: Node) -> str:
    """The single change that leads to a configuration."""
    return AS_IS if node.change is None else clean(node.change.title)


def fate_words(node: Node) -> str:
    if node.parent is None:
        return ""
    told = FATES.get(node.status, node.status)
    return f"{told}: {clean(node.note)}" if node.status == FAILED and node.note else told


def tree_rows(found: Neutrality, nodes: set[int]) -> Iterator[tuple[int, Node]]:
    """Configurations of a set in the order of the tree, the best child first, each with its depth."""
    children: dict[int | None, list[Node]] = {}
    for node in found.nodes:
        if node.id in nodes:
            children.setdefault(node.parent, []).append(node)

    def error(node: Node) -> float:
        return math.inf if found.objective is None else error_of(found.objective, node, found.nodes)

    def below(parent: int | None, depth: int) -> Iterator[tuple[int, Node]]:
        for node in sorted(children.get(parent, []), key=lambda node: (error(node), node.id)):
            yield depth, node
            yield from below(node.id, depth + 1)

    yield from below(None, 0)


def value_words(node: Node) -> str:
    """The mean, with the spread where there are several seeds."""
    return mean_words(node.values) if node.values else measure(None)


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


def _alternative(found: Neutrality, one: Alternative) -> dict[str, Any]:
    best = found.node(one.nodes[0])
    return {
        "knobs": one.knobs,
        "causes": one.causes,
        "titles": best.titles,
        "minimal": one.minimal,
        "contains": one.contains,
        "nodes": one.nodes,
        "mean": best.mean,
        "deviation": best.spread,
        "lines": best.lines,
        "patch": best.patch,
        "arguments": best.new_arguments,
    }


_CHANGE = Fields("title", "cause", "unit=repair", "knob")
_NODE = Fields(
    "id",
    "parent",
    "depth",
    ("step", lambda node: None if node.change is None else node.change.title),
    ("changes", lambda node: change_data(node.version, _CHANGE)),
    "status",
    "expanded",
    "values",
    "mean",
    "deviation=spread",
    "lines",
    "cost",
    ("exception", lambda node: node.note or None),
)
NEUTRALITY = Fields(
    "script",
    "arguments",
    ("metric", lambda found: objective_data(found.objective)),
    ("goal", Fields("kind", "value", "values", "node")),
    "seeds",
    ("alternatives", lambda found: [_alternative(found, one) for one in found.alternatives]),
    ("nodes", _NODE),
    "trainings",
    "seconds",
    "budget",
    "stopped",
    "untried",
    "failures=problems",
)
