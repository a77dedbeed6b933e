"""The figures of a repair's page: the measure over training, seed by seed, and where it ended."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from markupsafe import Markup

from netmend.repair.objective import Objective
from netmend.repair.result import Result
from netmend.report.axes import Axis, tick_label
from netmend.report.curves import Curve, Line
from netmend.report.numbers import measure
from netmend.report.repair.proof import metric_words, proof_objective
from netmend.report.svg import WIDTH, line_chart
from netmend.trials.trial import Outcome
from netmend.vocabulary.verification import Verification

_LEFT, _RIGHT, _TOP, _ROW, _BOTTOM = 100, 18, 6, 24, 40
_GRID = 200  # steps at which a mean is taken where seeds were measured at different ones
_WIDE = 30  # highest value over median, from which a linear axis shows a flat line and a spike


def course_chart(result: Result) -> Markup:
    """The measure over the steps: thin lines are seeds, thick ones their means. Empty without a course."""
    objective = proof_objective(result)
    if objective is None:
        return Markup("")
    lines: list[Line] = []
    means: list[Line] = []
    for side, outcomes in (("before", result.before), ("after", result.after)):
        own = list(_lines(side, outcomes, objective, result.verification))
        lines += own
        if own:
            means.append(_mean(side, own))
    if not any(len(line.steps) > 1 for line in lines):
        return Markup("")
    curve = Curve(metric_words(objective), (*lines, *means))
    return line_chart(curve, log=not objective.higher_is_better and _is_wide(lines))


def ends_chart(result: Result) -> Markup:
    """A row for every seed: where the measure ended before and after. Empty when nothing was measured."""
    made, objective = result.verification, proof_objective(result)
    if made is None or objective is None:
        return Markup("")
    values = np.array([v for v in (*made.before, *made.after) if v is not None], dtype=float)
    axis = Axis.over([values])
    if axis is None:
        return Markup("")
    height = _TOP + _ROW * len(made.seeds) + _BOTTOM
    told = f"{metric_words(objective)} before and after, for {len(made.seeds)} seeds"
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(told, quote=True)}">',
        *_axis(axis, height, metric_words(objective)),
    ]
    for row, (seed, old, new) in enumerate(zip(made.seeds, made.before, made.after, strict=True)):
        parts += _pair(axis, _TOP + _ROW * (row + 0.5), seed, old, new)
    return Markup("".join((*parts, "</svg>")))


def _lines(
    side: str, outcomes: Sequence[Outcome], objective: Objective, made: Verification | None
) -> Iterator[Line]:
    seeds = () if made is None else made.seeds
    for index, outcome in enumerate(outcomes):
        points = outcome.series.get(objective.series)
        if points:
            steps = np.array([int(point[0]) for point in points])
            seed = seeds[index] if index < len(seeds) else index + 1
            yield Line(f"{side}, seed {seed}", steps, np.array([point[1] for point in points]), side)


def _mean(side: str, lines: Sequence[Line]) -> Line:
    """Over the seeds that got as far as a step, between the steps at which they were measured."""
    steps = np.unique(np.concatenate([line.steps for line in lines]))
    if len(steps) > _GRID:
        steps = np.unique(np.linspace(steps[0], steps[-1], _GRID).astype(int))
    rows = np.array([np.interp(steps, line.steps, line.values, left=np.nan, right=np.nan) for line in lines])
    known = np.isfinite(rows)
    count = known.sum(axis=0)
    total = np.where(known, rows, 0.0).sum(axis=0)
    there = count > 0
    return Line(f"{side}, mean", steps[there], total[there] / count[there], f"{side} mean")


def _is_wide(lines: Sequence[Line]) -> bool:
    values = np.concatenate([line.values[np.isfinite(line.values)] for line in lines])
    return bool(len(values) and values.min() > 0 and values.max() > _WIDE * np.median(values))


def _x(axis: Axis, value: float | None) -> float | None:
    place = None if value is None or not math.isfinite(value) else axis.position(value)
    return None if place is None else _LEFT + 10 + place * (WIDTH - _LEFT - _RIGHT - 20)


def _axis(axis: Axis, height: int, name: str) -> Iterator[str]:
    bottom = height - _BOTTOM
    for tick in axis.ticks(5):
        x = _x(axis, tick)
        if x is not None:
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
            yield f'<text class="tick middle" x="{x:.1f}" y="{bottom + 16}">{escape(tick_label(tick))}</text>'
    yield f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>'
    yield f'<text class="tick middle" x="{(_LEFT + WIDTH - _RIGHT) / 2:.0f}" y="{height - 6}">{escape(name)}</text>'


def _pair(axis: Axis, y: float, seed: int, old: float | None, new: float | None) -> Iterator[str]:
    yield f'<text class="tick end" x="{_LEFT - 7}" y="{y + 4:.1f}">seed {seed}</text>'
    start, stop = _x(axis, old), _x(axis, new)
    if start is not None and stop is not None:
        yield f'<line class="pair" x1="{start:.1f}" x2="{stop:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    for side, x, value in (("before", start, old), ("after", stop, new)):
        told = escape(f"seed {seed} {side}: {'failed' if x is None else measure(value)}")
        if x is None:
            place = _LEFT + (4 if side == "before" else 22)
            yield f'<text class="fail {side}" x="{place}" y="{y + 5:.1f}">×<title>{told}</title></text>'
        else:
            yield f'<circle class="end {side}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{told}</title></circle>'
