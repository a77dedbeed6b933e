"""A neutrality analysis put into words and rows; terminal, page and JSON say it alike."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator

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
from netmend.program.text.files import diff
from netmend.report.content import Column, Grid, Remark, clean
from netmend.report.numbers import duration, measure, plural, setting
from netmend.report.repair.patch import FILE, HUNK, NEW, NOTE, OLD, DiffLine
from netmend.report.repair.patch import SAME as SAME_LINE
from netmend.report.repair.proof import mean_words, metric_words

AS_IS = "the original program"
FATES = {
    KEPT: "as good as its parent",
    WORSE: "worse than its parent",
    GIVEN_UP: "given up: clearly worse",
    FAILED: "fails",
    SAME: "no effect: trains exactly like its parent",
    OPEN: "looked close, but the budget ended before all seeds",
}
_KINDS = {"@": HUNK, "-": OLD, "+": NEW, "\\": NOTE}


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


def start_words(found: Neutrality) -> str:
    return clean(shlex.join((found.script, *found.arguments)))


def goal_remarks(found: Neutrality) -> Iterator[Remark]:
    """The program as it is, the goal, what counts and how it is compared."""
    name = metric_name(found)
    yield Remark("original", f"{name} {_values_words(found.original)}", tail=_note(found.original))
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


def patch_lines(found: Neutrality, node: Node) -> tuple[DiffLine, ...]:
    """What a configuration changes in the program as it is: its patch, and the arguments in the same form."""
    lines: list[DiffLine] = []
    for file, text in sorted(node.version.texts.items()):
        own = diff(file, node.version.originals[file], text).split("\n")[:-1]
        lines += [DiffLine(FILE, line.rstrip("\t")) for line in own[:2]]
        lines += [DiffLine(_KINDS.get(line[:1], SAME_LINE), line.removesuffix("\r")) for line in own[2:]]
    if node.new_arguments is not None:
        lines.append(DiffLine(FILE, "arguments"))
        lines.append(DiffLine(OLD, f"-{shlex.join((found.script, *node.version.arguments))}"))
        lines.append(DiffLine(NEW, f"+{shlex.join((found.script, *node.new_arguments))}"))
    return tuple(lines)


def _values_words(node: Node) -> str:
    return mean_words(node.values) if node.values else "(not trained)"


def _note(node: Node) -> str:
    return clean(node.note)


def value_words(node: Node) -> str:
    """The mean, with the spread where there are several seeds."""
    return mean_words(node.values) if node.values else measure(None)
