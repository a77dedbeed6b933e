"""A neutrality analysis as a page: the alternatives with their patches, and the graph as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np
from markupsafe import Markup

from netmend.neutral.alternatives import error_of
from netmend.neutral.neutrality import Neutrality, Node
from netmend.report.axes import Axis, tick_label
from netmend.report.content import Column, DiffLine, Figure, Grid, Number, Remark, clean
from netmend.report.neutral.document import (
    changes_words,
    end_remarks,
    fate_words,
    goal_remarks,
    metric_name,
    neutral_document,
    standing_words,
    step_words,
    tree_rows,
    value_words,
)
from netmend.report.numbers import mean_words, plural, setting
from netmend.report.patches import start_words, version_lines
from netmend.report.templates import page

_WIDTH, _HEIGHT = 960, 470
_LEFT, _RIGHT, _TOP, _BOTTOM, _FAILS = 66, 16, 18, 30, 30
_NUMBERED, _LARGE, _SMALL = 11.0, 6.0, 3.6  # radii: minimal alternatives carry their number
_FIRST_COLUMN = 0.4  # of the width of the others: it holds one node
_SHADES = 12  # of the style sheet, h0 (poor) to h11 (good)
_WIDE = 30.0  # highest over lowest, from which a loss is drawn on a logarithmic axis


def neutral_page(analysis: Neutrality) -> str:
    started = clean(start_words(analysis.script, analysis.arguments))
    return page(
        "neutral/page.html",
        neutral_document(analysis),
        started,
        styles=("neutral/page.css",),
        figures=tuple(_figures(analysis)),
        goal=tuple(goal_remarks(analysis)),
        metric=metric_name(analysis),
        drawing=graph(analysis),
        shades=tuple(f"h{index}" for index in range(_SHADES)),
        ways=tuple(_shown_ways(analysis)),
        tried=_tried(analysis),
        cost=tuple(end_remarks(analysis)),
    )


@dataclass(frozen=True)
class _Way:
    """An alternative, ready to be shown."""

    number: int
    title: str
    beside: str
    words: tuple[Remark, ...]
    lines: tuple[DiffLine, ...]
    minimal: bool


def _figures(analysis: Neutrality) -> Iterator[Figure]:
    if analysis.objective is None:
        return
    name = metric_name(analysis)
    over = f"over {plural(len(analysis.original.values), 'seed')}"
    yield Figure(f"{name} as it is", value_words(analysis.original), over)
    if analysis.goal.value is not None:
        told = mean_words(analysis.goal.values) if analysis.goal.values else setting(analysis.goal.value)
        source = {"fix": "the known fix", "like": "as you set it", "best": "the best found"}
        yield Figure(f"{name}, the goal", told, source[analysis.goal.kind])
    yield Figure(
        "alternatives",
        str(len(analysis.minimal)),
        f"minimal; {len(analysis.alternatives) - len(analysis.minimal)} larger",
    )
    yield Figure(
        "configurations", str(len(analysis.nodes) - 1), f"{setting(round(analysis.trainings, 1))} trainings"
    )


def _shown_ways(analysis: Neutrality) -> Iterator[_Way]:
    for one in analysis.alternatives:
        node = analysis.node(one.nodes[0])
        others = [analysis.node(number) for number in one.nodes[1:]]
        words = [Remark("mends", ", ".join(one.causes)), Remark("changes", ", ".join(one.knobs))]
        words += [
            Remark("also", f"{changes_words(other)}: {value_words(other)}", tone="muted") for other in others
        ]
        beside = f"{metric_name(analysis)} {value_words(node)}, {plural(node.lines, 'line')}, {standing_words(one)}"
        yield _Way(
            node.id,
            changes_words(node),
            beside,
            tuple(words),
            version_lines(node.version, analysis.script),
            one.minimal,
        )


def _tried(analysis: Neutrality) -> Grid:
    """All configurations in the order of the tree."""
    return Grid.of(
        tree_rows(analysis, {node.id for node in analysis.nodes}),
        Number("no.", lambda row: str(row[1].id)),
        Column(
            "change",
            lambda row: "\u2003" * row[0] + step_words(row[1]),
            hint="of the configuration above it that is set one step to the left",
        ),
        Number(metric_name(analysis), lambda row: value_words(row[1])),
        Number("seeds", lambda row: str(len(row[1].values))),
        Number("lines", lambda row: str(row[1].lines)),
        Column("outcome", lambda row: fate_words(row[1])),
    )


@dataclass(frozen=True)
class _Spot:
    node: Node
    x: float
    y: float
    radius: float


def graph(analysis: Neutrality) -> Markup:
    """Nodes are configurations, edges single changes; empty when nothing was measured."""
    means = np.array([node.mean for node in analysis.nodes if node.mean is not None], dtype=float)
    if not len(means) or analysis.objective is None:
        return Markup("")
    goal = [analysis.goal.value] if analysis.goal.value is not None else []
    every = np.concatenate([means, np.array(goal, dtype=float)])
    wide = not analysis.objective.higher_is_better and every.min() > 0 and every.max() > _WIDE * every.min()
    axis = Axis.over([every], log=wide)
    if axis is None:
        return Markup("")
    spots = _placed(analysis, axis)
    told = f"{metric_name(analysis)} of {plural(len(analysis.nodes), 'configuration')}, by how many changes they are away"
    parts = [
        f'<svg class="graph" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(told, quote=True)}">',
        *_frame(analysis, axis),
        *_edges(analysis, spots),
        *_nodes(analysis, spots),
        "</svg>",
    ]
    return Markup("".join(parts))


class _Columns:
    """Where the columns lie: one for each number of changes."""

    def __init__(self, analysis: Neutrality) -> None:
        self.count = max(node.depth for node in analysis.nodes) + 1
        self._unit = (_WIDTH - _LEFT - _RIGHT) / (_FIRST_COLUMN + self.count - 1)

    def middle(self, depth: int) -> float:
        if depth == 0:
            return _LEFT + self._unit * _FIRST_COLUMN / 2
        return _LEFT + self._unit * (_FIRST_COLUMN + depth - 0.5)

    def room(self, depth: int) -> float:
        """To each side of the middle."""
        return self._unit * (_FIRST_COLUMN if depth == 0 else 1.0) / 2 - _NUMBERED


def _placed(analysis: Neutrality, axis: Axis) -> dict[int, _Spot]:
    """Each column is filled from its middle outwards, so that no two nodes of one height lie upon each other."""
    columns = _Columns(analysis)
    spots: dict[int, _Spot] = {}
    for depth in range(columns.count):
        done: list[_Spot] = []
        column = [node for node in analysis.nodes if node.depth == depth]
        for node in sorted(column, key=lambda node: (-_radius(analysis, node), node.id)):
            radius, y = _radius(analysis, node), _y(analysis, axis, node.mean)
            x = _free(done, columns.middle(depth), y, radius, columns.room(depth))
            done.append(_Spot(node, x, y, radius))
            spots[node.id] = done[-1]
    return spots


def _radius(analysis: Neutrality, node: Node) -> float:
    if any(node.id == one.nodes[0] for one in analysis.minimal):
        return _NUMBERED
    reached = any(node.id in one.nodes for one in analysis.alternatives)
    return _LARGE if reached or node.expanded or node.id == 0 else _SMALL


def _free(done: list[_Spot], middle: float, y: float, radius: float, room: float) -> float:
    """The place nearest to the middle at which a node meets no other; the emptiest when the column is full."""
    step, best, widest = 2.0, middle, -math.inf
    for index in range(int(room // step) * 2):
        x = middle + (index + 1) // 2 * step * (-1 if index % 2 else 1)
        gaps = (math.hypot(spot.x - x, spot.y - y) - spot.radius - radius - 1 for spot in done)
        gap = min(gaps, default=math.inf)
        if gap > 0:
            return x
        if gap > widest:
            best, widest = x, gap
    return best


def _fails(analysis: Neutrality) -> int:
    """The height of the strip for those that fail."""
    return _FAILS if any(node.mean is None for node in analysis.nodes) else 0


def _y(analysis: Neutrality, axis: Axis, value: float | None) -> float:
    place = None if value is None else axis.position(value)
    if place is None:
        return _HEIGHT - _BOTTOM - _FAILS / 2
    return _TOP + (1 - place) * (_HEIGHT - _TOP - _BOTTOM - _fails(analysis) - _NUMBERED - 4)


def _frame(analysis: Neutrality, axis: Axis) -> Iterator[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for tick in axis.ticks(5):
        y = _y(analysis, axis, tick)
        yield f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick end" x="{_LEFT - 8}" y="{y + 4:.1f}">{escape(tick_label(tick))}</text>'
    if analysis.goal.value is not None:
        y = _y(analysis, axis, analysis.goal.value)
        yield f'<line class="goal" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"><title>the goal</title></line>'
    if _fails(analysis):
        line = bottom - _FAILS
        yield f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{line}" y2="{line}"/>'
        yield f'<text class="tick end" x="{_LEFT - 8}" y="{bottom - _FAILS / 2 + 4:.1f}">fails</text>'
    yield f'<line class="axis" x1="{_LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
    columns = _Columns(analysis)
    for depth in range(columns.count):
        words = "as it is" if depth == 0 else plural(depth, "change")
        x = columns.middle(depth)
        yield f'<text class="tick middle" x="{x:.1f}" y="{bottom + 18}">{words}</text>'


def _edges(analysis: Neutrality, spots: dict[int, _Spot]) -> Iterator[str]:
    ways = _ways(analysis)
    for spot in spots.values():
        if spot.node.parent is None:
            continue
        start = spots[spot.node.parent]
        kind = "edge way" if spot.node.id in ways else "edge"
        bend = (start.x + spot.x) / 2
        path = f"M{start.x:.1f} {start.y:.1f}C{bend:.1f} {start.y:.1f} {bend:.1f} {spot.y:.1f} {spot.x:.1f} {spot.y:.1f}"
        yield f'<path class="{kind}" d="{path}"><title>{escape(step_words(spot.node))}</title></path>'


def _ways(analysis: Neutrality) -> set[int]:
    """Configurations on the way to a minimal alternative, these included."""
    ways: set[int] = set()
    for one in analysis.minimal:
        number: int | None = one.nodes[0]
        while number is not None:
            ways.add(number)
            number = analysis.node(number).parent
    return ways


def _nodes(analysis: Neutrality, spots: dict[int, _Spot]) -> Iterator[str]:
    minimal = {one.nodes[0] for one in analysis.minimal}
    reached = {number for one in analysis.alternatives for number in one.nodes}
    for spot in sorted(spots.values(), key=lambda spot: spot.radius):
        node = spot.node
        role = "minimal" if node.id in minimal else "reached" if node.id in reached else "plain"
        shade = "bad" if node.mean is None else f"h{_shade(analysis, node)}"
        title = escape(_node_words(analysis, node))
        yield (
            f'<circle class="{shade} {role}" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{spot.radius}">'
            f"<title>{title}</title></circle>"
        )
        if node.id in minimal:
            x, y = f"{spot.x:.1f}", f"{spot.y + 4:.1f}"
            yield f'<text class="number middle" x="{x}" y="{y}">{node.id}</text>'


def _node_words(analysis: Neutrality, node: Node) -> str:
    """What the pointer is told about a node."""
    head = f"{node.id}: {changes_words(node)}"
    lines = [
        head,
        f"{metric_name(analysis)} {value_words(node)} ({plural(len(node.values), 'seed')})",
        fate_words(node),
    ]
    return "\n".join(clean(line) for line in lines if line)


def _shade(analysis: Neutrality, node: Node) -> int:
    """From the worst (0) to the best of all configurations."""
    assert analysis.objective is not None
    known = [other for other in analysis.nodes if other.mean is not None]
    errors = [error_of(analysis.objective, other, known) for other in known]
    own, worst, best = error_of(analysis.objective, node, known), max(errors), min(errors)
    share = 1.0 if worst == best else (worst - own) / (worst - best)
    return round(share * (_SHADES - 1))
