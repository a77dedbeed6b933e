"""A neutrality analysis as one self-contained HTML page: the alternatives with their patches, and the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from netmend.neutral.neutrality import Neutrality, Node
from netmend.report.content import Column, Grid, Remark
from netmend.report.figures import Figure
from netmend.report.neutral.graph import graph
from netmend.report.neutral.words import (
    changes_words,
    end_remarks,
    fate_words,
    goal_remarks,
    metric_name,
    patch_lines,
    standing_words,
    start_words,
    step_words,
    tree_rows,
    value_words,
    verdict_words,
)
from netmend.report.numbers import plural, setting
from netmend.report.repair.patch import DiffLine
from netmend.report.repair.proof import mean_words
from netmend.report.signs import harmless
from netmend.report.templates import templates

_CLASSES = {"good": "healthy", "warn": "undecided", "bad": "faulty"}  # of the style sheet


@dataclass(frozen=True)
class _Way:
    """An alternative, ready to be shown."""

    number: int
    title: str
    beside: str
    words: tuple[Remark, ...]
    lines: tuple[DiffLine, ...]
    minimal: bool


def neutral_html(found: Neutrality) -> str:
    """The page as a string. Everything that comes from the user's program is escaped."""
    environment = templates()
    names = ("page.css", "repair.css", "neutral.css")
    tone, words = verdict_words(found)
    return environment.get_template("neutral.html").render(
        title=f"{start_words(found)}: {words} – netmend",
        style=Markup("\n".join(environment.get_template(name).render() for name in names)),
        verdict=(_CLASSES[tone], f"{words[:1].upper()}{words[1:]}"),
        headline=start_words(found),
        figures=tuple(_figures(found)),
        goal=tuple(goal_remarks(found)),
        metric=metric_name(found),
        drawing=graph(found),
        shades=tuple(f"h{index}" for index in range(12)),
        ways=tuple(_ways(found)),
        tried=_tried(found),
        cost=tuple(end_remarks(found)),
    )


def _figures(found: Neutrality) -> Iterator[Figure]:
    if found.objective is None:
        return
    name = metric_name(found)
    over = f"over {plural(len(found.original.values), 'seed')}"
    yield Figure(f"{name} as it is", value_words(found.original), over)
    if found.goal.value is not None:
        told = mean_words(found.goal.values) if found.goal.values else setting(found.goal.value)
        source = {"fix": "the known fix", "like": "as you set it", "best": "the best found"}
        yield Figure(f"{name}, the goal", told, source[found.goal.kind])
    yield Figure(
        "alternatives",
        str(len(found.minimal)),
        f"minimal; {len(found.alternatives) - len(found.minimal)} larger",
    )
    yield Figure(
        "configurations", str(len(found.nodes) - 1), f"{setting(round(found.trainings, 1))} trainings"
    )


def _ways(found: Neutrality) -> Iterator[_Way]:
    for one in found.alternatives:
        node = found.node(one.nodes[0])
        others = [found.node(number) for number in one.nodes[1:]]
        words = [Remark("mends", ", ".join(one.causes)), Remark("changes", ", ".join(one.knobs))]
        words += [
            Remark("also", f"{changes_words(other)}: {value_words(other)}", tone="muted") for other in others
        ]
        lines = tuple(DiffLine(line.kind, harmless(line.text)) for line in patch_lines(found, node))
        beside = (
            f"{metric_name(found)} {value_words(node)}, {plural(node.lines, 'line')}, {standing_words(one)}"
        )
        yield _Way(node.id, changes_words(node), beside, tuple(words), lines, one.minimal)


def _tried(found: Neutrality) -> Grid:
    """All configurations in the order of the tree."""
    rows = [_row(depth, node) for depth, node in tree_rows(found, {node.id for node in found.nodes})]
    columns = (
        Column("no.", numeric=True),
        Column("change", hint="of the configuration above it that is set one step to the left"),
        Column(metric_name(found), numeric=True),
        Column("seeds", numeric=True),
        Column("lines", numeric=True),
        Column("outcome"),
    )
    return Grid(columns, tuple(rows))


def _row(depth: int, node: Node) -> tuple[str, ...]:
    words = "\u2003" * depth + step_words(node)
    return str(node.id), words, value_words(node), str(len(node.values)), str(node.lines), fate_words(node)
