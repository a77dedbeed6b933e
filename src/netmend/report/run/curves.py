"""The curves of a run: which series belong into one plot, what its axis leaves out, and how long ones are thinned without losing extremes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from netmend.report.axes import Axis, tick_label
from netmend.report.content import clean
from netmend.report.numbers import count
from netmend.report.run.layers import LayerRow, layer_rows
from netmend.report.run.wording import has_metric, metric_name
from netmend.vocabulary import Table, TargetFact, Trace
from netmend.vocabulary.table import FloatArray, IntArray

RATE_TITLE = "learning rate"
_WIDE_SPREAD = 30  # highest value over median, from which a linear axis shows a flat line and a spike


@dataclass(frozen=True, eq=False)
class Line:
    """One series of a plot; `role` decides how it looks: training | evaluation | reference."""

    label: str
    steps: IntArray
    values: FloatArray
    role: str = "training"


@dataclass(frozen=True, eq=False)
class Curve:
    """Lines over steps that share an axis. `marks` are steps at which something became non-finite."""

    title: str
    lines: tuple[Line, ...]
    unit: str = "number"  # number | share
    log: bool = False  # better read on a logarithmic axis, or a clipped one where values are negative
    marks: tuple[int, ...] = ()
    names: tuple[str, ...] = ()  # what the positions 1, 2, … along the axis are; steps when empty


def curves(trace: Trace) -> tuple[Curve, ...]:
    """Loss, metric, learning rate and gradient norm, as far as they were recorded."""
    marks = tuple(sorted({event.step for event in trace.events if event.kind == "nonfinite"}))[:20]
    losses = (*loss_lines(trace), *_evaluation_lines(trace, "loss"), *_constant_lines(trace))
    norms = tuple(_lines(trace.tables_of("step"), "gradient_norm"))
    rates = tuple(_stairs(line, trace) for line in _lines(trace.tables_of("rate"), "rate"))
    found = (
        Curve("loss", losses, log=has_spike(losses), marks=marks),
        _metric_curve(trace, marks),
        Curve(RATE_TITLE, rates),
        Curve("gradient norm", norms, log=True, marks=marks),
    )
    return tuple(curve for curve in found if any(len(line.steps) for line in curve.lines))


def telling_curves(trace: Trace) -> tuple[Curve, ...]:
    """The curves without that of a learning rate that never changed: the summary has its value."""
    return tuple(curve for curve in curves(trace) if curve.title != RATE_TITLE or not _constant(curve))


def _constant(curve: Curve) -> bool:
    return all(len(set(line.values.tolist())) < 2 for line in curve.lines)


def loss_lines(trace: Trace) -> list[Line]:
    """Training loss, one line per optimiser; per loss where the optimiser steps carry none."""
    lines = list(_lines(trace.tables_of("step"), "loss", alone="training"))
    return lines or list(_lines(trace.tables_of("progress"), "loss", alone="training"))


def has_spike(lines: Iterable[Line]) -> bool:
    """Whether a linear axis would show a flat line and a spike."""
    values = [np.abs(line.values[np.isfinite(line.values)]) for line in lines]
    joined = np.concatenate(values) if values else np.empty(0)
    joined = joined[joined > 0]
    return bool(len(joined)) and float(joined.max()) > _WIDE_SPREAD * float(np.median(joined))


def thin(steps: IntArray, values: FloatArray, buckets: int) -> tuple[IntArray, FloatArray]:
    """At most four points per bucket: first, lowest, highest, last. Non-finite values are extremes too."""
    if len(steps) <= 4 * buckets:
        return steps, values
    edges = np.linspace(0, len(steps), buckets + 1).astype(int)
    kept: set[int] = set()
    for start, stop in pairwise(edges.tolist()):
        part = values[start:stop]
        kept.update((int(start), int(stop) - 1))
        finite = np.isfinite(part)
        if finite.any():
            kept.add(int(start) + int(np.argmin(np.where(finite, part, np.inf))))
            kept.add(int(start) + int(np.argmax(np.where(finite, part, -np.inf))))
        if not finite.all():
            kept.add(int(start) + int(np.argmin(finite)))
    order = np.array(sorted(kept))
    return steps[order], values[order]


def bucket_means(values: FloatArray, buckets: int) -> tuple[float, ...]:
    """Means of consecutive stretches, for a curve of a few characters; non-finite values are left out."""
    finite = values[np.isfinite(values)]
    if len(finite) <= buckets:
        return tuple(finite.tolist())
    return tuple(float(part.mean()) for part in np.array_split(finite, buckets))


def _lines(tables: Iterable[Table], column: str, role: str = "training", alone: str = "") -> Iterable[Line]:
    """One line per table in which the column was measured; `alone` names a single line without a better name."""
    series = [(table.component, *table.known(column)) for table in tables]
    series = [entry for entry in series if len(entry[1])]
    for component, steps, values in series:
        label = alone if alone and len(series) == 1 else clean(component) or alone or column
        yield Line(label, steps, values, role)


def _stairs(line: Line, trace: Trace) -> Line:
    """A line that holds its value until the next change, and to the end of the run."""
    last = max(int(line.steps[-1]), trace.run.steps)
    ends = np.append(line.steps[1:], last)
    return Line(line.label, np.column_stack((line.steps, ends)).ravel(), np.repeat(line.values, 2), line.role)


def _evaluation_lines(trace: Trace, column: str) -> list[Line]:
    lines = list(_lines(trace.tables_of("evaluation"), column, "evaluation", alone="evaluation"))
    if len(lines) < 2:
        return lines
    return [Line(f"evaluation, {line.label}", line.steps, line.values, line.role) for line in lines]


def _constant_lines(trace: Trace) -> list[Line]:
    """The loss of the best constant prediction, drawn only where one objective makes it unambiguous.

    Evaluation may call its own loss, whose targets are others: those of training count.
    """
    targets = [target for target in trace.all(TargetFact) if target.constant_loss is not None]
    trained = {table.component for table in trace.tables_of("progress")}
    targets = [target for target in targets if target.name in trained] or targets
    lines = loss_lines(trace)
    if len(targets) != 1 or len(lines) != 1:
        return []
    constant = targets[0].constant_loss
    steps = lines[0].steps[[0, -1]]
    return [Line("best constant prediction", steps, np.array([constant, constant], dtype=float), "reference")]


def _metric_curve(trace: Trace, marks: tuple[int, ...]) -> Curve:
    lines = (
        *_lines(
            (table for table in trace.tables_of("progress") if has_metric(trace, table.component)),
            "metric",
            alone="training",
        ),
        *_evaluation_lines(trace, "metric"),
    )
    name = metric_name(trace)
    return Curve(name, lines, unit="share" if name == "accuracy" else "number", marks=marks)


_MOST_MODELS = 4


def depth_curves(trace: Trace) -> Iterator[Curve]:
    """Per model, the gradient rms of its layers in execution order: at first, typically, at last."""
    models: dict[str, list[LayerRow]] = {}
    for row in layer_rows(trace):
        if row.order is not None and row.parameters:
            models.setdefault(row.model, []).append(row)
    for model, rows in list(models.items())[:_MOST_MODELS]:
        title = "gradient rms by depth" + (f", {clean(model)}" if len(models) > 1 else "")
        curve = _depth_curve(trace, rows, title)
        if curve is not None:
            yield curve


def _depth_curve(trace: Trace, rows: list[LayerRow], title: str) -> Curve | None:
    names: list[str] = []
    values: list[tuple[float, float, float]] = []
    for row in rows:
        _, found = trace.series("gradient", row.main_parameter, "rms")
        found = found[np.isfinite(found)]
        if len(found):
            names.append(clean(row.name))
            values.append((float(found[0]), float(np.median(found)), float(found[-1])))
    if len(names) < 2:
        return None
    table = np.array(values)
    positions = np.arange(1, len(names) + 1)
    lines = tuple(
        Line(label, positions, table[:, index]) for index, label in enumerate(("first", "median", "last"))
    )
    return Curve(title, lines, log=True, names=tuple(names))


def scale_words(curve: Curve, axis: Axis) -> str:
    """The kind of axis where it is not the plain one, and what it leaves out."""
    return ", ".join((*(("log scale",) if axis.log else ()), *cuts(curve, axis)))


def cuts(curve: Curve, axis: Axis) -> Iterator[str]:
    """`clipped at 1,250; highest 591,400 at step 10`; nothing where the axis holds every value."""
    steps = np.concatenate([line.steps for line in curve.lines])
    values = np.concatenate([line.values for line in curve.lines])
    steps, values = steps[np.isfinite(values)], values[np.isfinite(values)]

    def beyond(edge: float, name: str, at: int) -> str:
        where = curve.names[int(steps[at]) - 1] if curve.names else f"step {count(int(steps[at]))}"
        value = tick_label(float(values[at]), curve.unit)
        return f"clipped at {tick_label(edge, curve.unit)}; {name} {value} at {where}"

    highest, lowest = int(np.argmax(values)), int(np.argmin(values))
    if values[highest] > axis.high:
        yield beyond(axis.high, "highest", highest)
    if axis.log and values[lowest] == 0:
        yield "0 is drawn on the lower edge"
    elif values[lowest] < axis.low:
        yield beyond(axis.low, "lowest", lowest)
