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
from netmend.report.content import Column, Document, Grid, Number, Remark, clean
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


def neutral_document(analysis: Neutrality) -> Document:
    """The outcome first, then what a person needs to judge it."""
    return Document(
        *verdict_words(analysis),
        (
            tuple(goal_remarks(analysis)),
            alternatives_grid(analysis, _MOST_ALTERNATIVES),
            *((Inset(Tree(analysis)),) if len(analysis.nodes) > 1 else ()),
            tuple(end_remarks(analysis)),
        ),
    )


def verdict_words(analysis: Neutrality) -> tuple[str, str]:
    """The tone (good, warn, bad) and the outcome in a few words."""
    if analysis.objective is None:
        return "bad", "No metric was found; name one with --metric"
    if analysis.goal.value is None and analysis.goal.kind == FIX:
        return (
            "bad",
            "Nothing can be compared with the known fix: it did not finish training, or does not print the metric",
        )
    count = len(analysis.minimal)
    if len(analysis.nodes) == 1:
        return "warn", "No change was tried"
    if not count:
        return "warn", {
            FIX: "No other change does as well as the known fix",
            LIKE: f"No change reaches {setting(analysis.goal.value)}",
            BEST: "No change does as well as the original program",
        }[analysis.goal.kind]
    ways = plural(count, "minimal fix", "minimal fixes")
    does = "does" if count == 1 else "do"
    only = f": {changes_words(analysis.node(analysis.minimal[0].nodes[0]))}" if count == 1 else ""
    return "good", {
        FIX: f"{ways} {does} as well as the known fix",
        LIKE: f"{ways} {'reaches' if count == 1 else 'reach'} {setting(analysis.goal.value)}",
        BEST: f"{ways} found{only}",
    }[analysis.goal.kind]


def metric_name(analysis: Neutrality) -> str:
    return "value" if analysis.objective is None else metric_words(analysis.objective)


def goal_remarks(analysis: Neutrality) -> Iterator[Remark]:
    """The program as it is, the goal, what counts and how it is compared."""
    name = metric_name(analysis)
    yield Remark(
        "original",
        f"{name} {mean_words(analysis.original.values) if analysis.original.values else '(not trained)'}",
        tail=clean(analysis.original.note),
    )
    goal = analysis.goal
    if goal.kind == LIKE:
        yield Remark("goal", f"{name} {setting(goal.value)}, as you set it")
    elif goal.value is not None:
        source = "the known fix" if goal.kind == FIX else "the best found"
        beside = "" if goal.node is None else f", configuration {goal.node}"
        yield Remark("goal", f"{name} {mean_words(goal.values)}, {source}{beside}")
    if analysis.objective is not None and goal.value is not None:
        if goal.kind != BEST and reaches(analysis.objective, analysis.original, goal, analysis.original):
            yield Remark(
                "note",
                "the original program already reaches the goal: the changes are neutral, not repairs",
                tone="warn",
            )
        way = "higher" if analysis.objective.higher_is_better else "lower"
        yield Remark("metric", f"{clean(analysis.objective.name)}; {way} is better", tone="muted")
        yield Remark("compared", compared_words(analysis), tone="muted")


def compared_words(analysis: Neutrality) -> str:
    seeds = f"means over {plural(len(analysis.seeds), 'seed')}"
    if analysis.goal.kind == LIKE:
        return f"{seeds}; the mean has to reach that value"
    return f"{seeds}; “as good” = within 1 standard error of the difference, or 1 % of the way to the goal"


def end_remarks(analysis: Neutrality) -> Iterator[Remark]:
    """What was looked at, what it cost, why it ended."""
    fates = Counter(node.status for node in analysis.nodes[1:])
    told = [f"{fates[status]} {_SHORT[status]}" for status in FATES if fates[status]]
    beside = f"; {plural(analysis.untried, 'more change')} not tried" if analysis.untried else ""
    yield Remark(
        "looked at",
        f"{plural(len(analysis.nodes) - 1, 'configuration')}: {', '.join(told) or 'none'}{beside}",
    )
    spent = setting(float(f"{analysis.trainings:.1f}"))
    yield Remark("cost", f"{spent} trainings (budget {analysis.budget}); {duration(analysis.seconds)} in all")
    if analysis.stopped:
        yield Remark("ended", clean(analysis.stopped), tone="muted")
    if analysis.problems:
        yield Remark(
            "failures", f"parts of netmend failed: {clean('; '.join(analysis.problems))}", tone="warn"
        )


_SHORT = {
    KEPT: "as good as its parent",
    WORSE: "worse",
    GIVEN_UP: "given up",
    FAILED: "failed",
    SAME: "without effect",
    OPEN: "left open",
}


def alternatives_grid(analysis: Neutrality, most: int | None = None) -> Grid:
    """One row for each set of changes, with its best configuration."""
    shown = [(one, analysis.node(one.nodes[0])) for one in analysis.alternatives[:most]]
    left = len(analysis.alternatives) - len(shown)
    return Grid.of(
        shown,
        Number("no.", lambda pair: str(pair[1].id), hint="number of the configuration"),
        Column("what changes", lambda pair: changes_words(pair[1])),
        Number(
            metric_name(analysis),
            lambda pair: mean_words(pair[1].values),
            hint="mean and standard deviation over the seeds",
        ),
        Number(
            "lines",
            lambda pair: str(pair[1].lines),
            hint="lines of source that differ from the original program",
        ),
        Number(
            "cost",
            lambda pair: setting(float(f"{pair[1].cost:.2g}")),
            spare=1,
            hint="of one training, in trainings of the original program",
        ),
        Column("set", lambda pair: standing_words(pair[0])),
        note=f"and {plural(left, 'larger set')}" if left else "",
    )


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


def tree_rows(analysis: Neutrality, nodes: set[int]) -> Iterator[tuple[int, Node]]:
    """Configurations of a set in the order of the tree, the best child first, each with its depth."""
    children: dict[int | None, list[Node]] = {}
    for node in analysis.nodes:
        if node.id in nodes:
            children.setdefault(node.parent, []).append(node)

    def error(node: Node) -> float:
        return math.inf if analysis.objective is None else error_of(analysis.objective, node, analysis.nodes)

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

    def __init__(self, analysis: Neutrality) -> None:
        self.analysis = analysis

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = list(tree_rows(self.analysis, shown_nodes(self.analysis)))
        minimal = {number for one in self.analysis.minimal for number in one.nodes}
        larger = {number for one in self.analysis.alternatives for number in one.nodes} - minimal
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
            line.append(
                text + " " * (room - cells(text)), "" if mark.strip() or node.parent is None else "dim"
            )
            yield line.append(f"  {value_words(node):>{values}}")
        yield from _notes(self.analysis, len(rows))


def shown_nodes(analysis: Neutrality) -> set[int]:
    """Alternatives and what was followed up, with all that they come from."""
    wanted = {number for one in analysis.alternatives for number in one.nodes}
    wanted |= {node.id for node in analysis.nodes if node.expanded or node.parent is None}
    for number in sorted(wanted, reverse=True):
        parent = analysis.node(number).parent
        while parent is not None:
            wanted.add(parent)
            parent = analysis.node(parent).parent
    return wanted


def _notes(analysis: Neutrality, shown: int) -> Iterator[Text]:
    notes = ["● minimal set, ○ larger set that reaches the goal"] if analysis.alternatives else []
    if shown > _MOST_ROWS:
        notes.append(f"{shown - _MOST_ROWS} more rows are on the page (--html)")
    if notes:
        yield Text("; ".join(notes), "dim")


def _alternative(analysis: Neutrality, one: Alternative) -> dict[str, Any]:
    best = analysis.node(one.nodes[0])
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
    ("metric", lambda analysis: objective_data(analysis.objective)),
    ("goal", Fields("kind", "value", "values", "node")),
    "seeds",
    ("alternatives", lambda analysis: [_alternative(analysis, one) for one in analysis.alternatives]),
    ("nodes", _NODE),
    "trainings",
    "seconds",
    "budget",
    "stopped",
    "untried",
    "failures=problems",
)
