"""A repair as a page: verdict, patch, proof over seeds with its figures, what was tried, what it cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from markupsafe import Markup

from netmend.program.text.sources import Sources
from netmend.repair.objective import Objective
from netmend.repair.result import Result
from netmend.report.axes import Axis, tick_label
from netmend.report.code import CodeLine, excerpt
from netmend.report.content import Figure, Remark, clean
from netmend.report.numbers import duration, failed_words, mean_words, measure, plural, sure
from netmend.report.patches import start_words, version_lines
from netmend.report.plots import WIDTH, line_chart
from netmend.report.repair.document import repair_document, tried_grid
from netmend.report.repair.words import (
    chance_words,
    change_remarks,
    cost_remarks,
    effect_words,
    failure_remarks,
    metric_words,
    place_words,
    proof_objective,
    proof_remarks,
)
from netmend.report.run.curves import Curve, Line
from netmend.report.signs import harmless
from netmend.report.templates import page
from netmend.trials.trial import Outcome
from netmend.vocabulary import Fault
from netmend.vocabulary.verification import PROVEN, Verification

_LEFT, _RIGHT, _TOP, _ROW, _BOTTOM = 100, 18, 6, 24, 40
_GRID = 200  # steps at which a mean is taken where seeds were measured at different ones
_WIDE = 30  # highest value over median, from which a linear axis shows a flat line and a spike


@dataclass(frozen=True)
class _Wrong:
    """A fault of the program as it is."""

    title: str
    code: str
    sure: str
    place: str
    lines: tuple[CodeLine, ...]
    words: tuple[Remark, ...]
    mended: bool  # by a proven change


def repair_page(result: Result) -> str:
    objective, made = proof_objective(result), result.verification
    return page(
        "repair/page.html",
        repair_document(result),
        clean(_headline(result)),
        clean(result.script),
        alarms=tuple(failure_remarks(result)),
        missing=() if made is None else tuple(clean(text) for text in made.missing),
        figures=tuple(_figures(result)),
        changes=tuple(change_remarks(result)),
        lines=version_lines(result.version, result.script),
        faults=tuple(_faults(result)),
        proof=tuple(remark for remark in proof_remarks(result) if remark.label != "missing"),
        metric="" if objective is None else metric_words(objective),
        course=course_chart(result),
        ends=ends_chart(result),
        failed=made is not None and bool(failed_words((*made.before, *made.after))),
        tried=tried_grid(result, causes=True) if result.attempts else None,
        cost=tuple(_costs(result)),
    )


def _headline(result: Result) -> str:
    started = start_words(result.script, result.arguments)
    if result.titles:
        return f"{started}: {'; '.join(result.titles)}"
    return f"{started}: {plural(len(result.attempts), 'change')} tried"


def _figures(result: Result) -> Iterator[Figure]:
    made, objective = result.verification, proof_objective(result)
    if made is None or objective is None or not made.before:
        return
    for side, values in (("before", made.before), ("after", made.after)):
        beside = ", ".join(filter(None, (f"over {plural(len(values), 'seed')}", failed_words(values))))
        yield Figure(f"{metric_words(objective)} {side}", mean_words(values), beside)
    if chance := chance_words(made.p_value):
        yield Figure("chance (p)", chance, f"effect {effect_words(made.effect_size)}")
    steps = plural(round(made.steps_after), "step")
    yield Figure(
        "a training", duration(made.seconds_after), f"{steps}; before: {duration(made.seconds_before)}"
    )


def _faults(result: Result) -> Iterator[_Wrong]:
    sources = Sources(result.baseline.root or result.directory, result.script)
    for fault in () if result.diagnosis is None else result.diagnosis.faults:
        yield _Wrong(
            clean(f"{fault.title[:1].upper()}{fault.title[1:]}"),
            fault.cause,
            sure(fault.confidence),
            place_words(result, fault.site),
            _code_lines(sources, fault),
            (Remark("seen", clean(fault.summary)), Remark("why", clean(fault.reason))),
            result.verdict == PROVEN and fault.cause in result.causes,
        )


def _code_lines(sources: Sources, fault: Fault) -> tuple[CodeLine, ...]:
    if fault.site is None:
        return ()
    return tuple(
        CodeLine(line.number, harmless(line.text), line.marked, line.start, line.end)
        for line in excerpt(sources, fault.site, around=2)
    )


def _costs(result: Result) -> Iterator[Remark]:
    yield from cost_remarks(result)
    if result.stopped:
        yield Remark("ended", clean(result.stopped))
    if result.problems:
        yield Remark("failures", f"parts of netmend failed: {clean('; '.join(result.problems))}", tone="warn")


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
