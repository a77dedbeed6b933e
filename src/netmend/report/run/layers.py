"""The layers of a run: as rows with their latest statistics, and over time as heat maps (inline SVG, a cell per stretch of steps)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape

import numpy as np
from markupsafe import Markup

from netmend.report.axes import Axis, tick_label
from netmend.report.content import Column, Grid, Number, clean, place
from netmend.report.numbers import UNKNOWN, count, measure, shape, share
from netmend.vocabulary import FunctionFact, ModuleFact, ParameterFact, Site, Table, Trace
from netmend.vocabulary.table import FloatArray, IntArray


@dataclass(frozen=True)
class LayerRow:
    """A leaf module, a module with parameters of its own, or a functional activation."""

    name: str
    kind: str
    model: str = ""
    order: int | None = None
    output: tuple[int, ...] | None = None
    parameters: tuple[ParameterFact, ...] = field(default=())
    created: Site | None = None
    remark: str = ""  # what is unusual about it, as a fact

    @property
    def main_parameter(self) -> str:
        """The largest parameter: it stands for the layer's gradient and update."""
        return max(self.parameters, key=_size, default=ParameterFact(name="")).name


def layer_rows(trace: Trace) -> tuple[LayerRow, ...]:
    """Rows in execution order, model by model; what was never called comes last in its model."""
    owned: dict[str, list[ParameterFact]] = {}
    for parameter in trace.parameters:
        owned.setdefault(parameter.module, []).append(parameter)
    modules = {module.name: module for module in trace.all(ModuleFact)}
    rows = [_module_row(module, owned) for module in modules.values() if module.leaf or module.name in owned]
    rows += [_orphan_row(name, parameters) for name, parameters in owned.items() if name not in modules]
    rows += [_function_row(fact) for fact in trace.all(FunctionFact) if fact.kind == "activation"]
    rank = {model.name: index for index, model in enumerate(trace.models)}
    return tuple(
        sorted(rows, key=lambda row: (rank.get(row.model, len(rank)), row.order is None, row.order or 0))
    )


def latest(trace: Trace, kind: str, component: str, column: str) -> float | None:
    """The last measured value, or None."""
    _, values = trace.series(kind, component, column)
    return float(values[-1]) if len(values) else None


def layers_grid(trace: Trace) -> Grid:
    """One row per layer with its latest statistics."""

    def last(kind: str, column: str, words: Callable[[float | None], str] = measure) -> Callable[..., str]:
        """Gradients and updates are those of the largest parameter."""
        if kind == "activation":
            return lambda row: words(latest(trace, kind, row.name, column))
        return lambda row: words(latest(trace, kind, row.main_parameter, column)) if row.parameters else ""

    return Grid.of(
        layer_rows(trace),
        Column("layer", lambda row: clean(row.name)),
        Column("kind", lambda row: clean(row.kind), spare=2),
        Column(
            "output",
            lambda row: UNKNOWN if row.output is None else shape(row.output),
            spare=6,
            hint="shape of the output in the first forward pass",
        ),
        Number(
            "parameters",
            lambda row: count(sum(map(_size, row.parameters))) if row.parameters else "",
            spare=4,
        ),
        Column("made at", lambda row: place(row.created, trace.run), spare=3),
        Number("act. rms", last("activation", "rms"), hint="root mean square of the output"),
        Number(
            "zero",
            last("activation", "zero_share", share),
            spare=5,
            hint="share of output values that are exactly zero",
        ),
        Number(
            "silent",
            last("activation", "silent_share", share),
            spare=1,
            hint="share of units that are zero for every sample",
        ),
        Number(
            "grad. rms",
            last("gradient", "rms"),
            hint="root mean square of the gradient of its largest parameter",
        ),
        Number(
            "update",
            last("update", "ratio"),
            hint="size of the last update relative to the weights: ‖ΔW‖/‖W‖",
        ),
        Column("remark", lambda row: row.remark, spare=7),
        note="Statistics are from the last step at which they were recorded.",
    )


def _size(parameter: ParameterFact) -> int:
    total = 1
    for length in parameter.shape:
        total *= length
    return total


def _module_row(module: ModuleFact, owned: dict[str, list[ParameterFact]]) -> LayerRow:
    parameters = tuple(owned.get(module.name, ()))
    return LayerRow(
        module.name,
        module.kind,
        module.model,
        module.order,
        module.output_shapes[0] if module.output_shapes else None,
        parameters,
        module.created,
        _unusual(module, parameters),
    )


def _unusual(module: ModuleFact, parameters: tuple[ParameterFact, ...]) -> str:
    told = []
    if not module.registered:
        told.append("not registered in the model")
    if module.order is None:
        told.append("never called")
    if module.calls > 1:
        told.append(f"called {module.calls} times per pass")
    if parameters and not any(parameter.trainable for parameter in parameters):
        told.append("frozen")
    elif any(parameter.trainable and parameter.optimizer is None for parameter in parameters):
        told.append("in no optimiser")
    tied = [parameter.tied_to for parameter in parameters if parameter.tied_to]
    if tied:
        told.append(f"shares {tied[0]}")
    return clean(", ".join(told))


def _orphan_row(name: str, parameters: list[ParameterFact]) -> LayerRow:
    """Parameters whose module was not seen, such as those of a hand-written model without modules."""
    return LayerRow(name or parameters[0].name, "parameter", parameters=tuple(parameters))


def _function_row(fact: FunctionFact) -> LayerRow:
    output = fact.output_shape or None
    return LayerRow(fact.name, f"{fact.function}()", fact.model, fact.order, output, (), fact.site)


LEVELS = 12  # colours of the style sheet, .h0 to .h11
_CELLS = 4000  # per map: keeps the page of a 100-layer network well below the size limit
_MOST_ROWS = 400  # more rows than pixels would say nothing
_LABEL_WIDTH, _PLOT_WIDTH = 200, 880
_LABEL_LETTERS = 26
_TOP = 6  # room for the upper half of the first label


@dataclass(frozen=True, eq=False)
class HeatRow:
    """One layer's values over time; `bad` marks where they were not finite."""

    label: str
    steps: IntArray
    values: FloatArray
    bad: FloatArray


@dataclass(frozen=True, eq=False)
class HeatMap:
    title: str
    rows: tuple[HeatRow, ...]
    unit: str = "number"  # number: logarithmic colours; share: 0 to 100 %
    note: str = ""


def heat_maps(trace: Trace) -> tuple[HeatMap, ...]:
    """Gradient, applied update and silent units of every layer; maps without data are left out."""
    gradients, updates, silent = [], [], []
    for row in layer_rows(trace):
        main = row.main_parameter
        gradients.append(_row(row.name, trace.table("gradient", main), "rms"))
        updates.append(_row(row.name, trace.table("update", main), "ratio"))
        silent.append(_row(row.name, trace.table("activation", row.name), "silent_share"))
    ever_silent = [row for row in silent if (row.values > 0).any() or row.bad.any()]
    rest = "; layers without any are left out" if len(ever_silent) < len(silent) else ""
    found = (
        _map("gradient rms", gradients, "of each layer's largest parameter"),
        _map("update ratio ‖ΔW‖/‖W‖", updates, "of each layer's largest parameter"),
        _map("silent share", ever_silent, f"units that are zero for every sample{rest}", "share"),
    )
    return tuple(heat for heat in found if heat.rows)


def _map(title: str, rows: list[HeatRow], note: str, unit: str = "number") -> HeatMap:
    kept = [row for row in rows if len(row.steps)]
    if len(kept) > _MOST_ROWS:
        chosen = np.linspace(0, len(kept) - 1, _MOST_ROWS).round().astype(int)
        note += f"; {_MOST_ROWS} of {count(len(kept))} layers shown"
        kept = [kept[index] for index in chosen]
    return HeatMap(title, tuple(kept), unit, note)


def _row(name: str, table: Table, column: str) -> HeatRow:
    values = table.column(column)
    bad = (np.nan_to_num(table.column("nonfinite")) > 0) | np.isinf(values)
    seen = ~np.isnan(values) | bad
    return HeatRow(clean(name), table.steps[seen], values[seen], bad[seen].astype(float))


def draw(heat: HeatMap) -> Markup:
    """The map as one <svg> with layer names, step axis and a colour scale."""
    first = min(int(row.steps[0]) for row in heat.rows)
    last = max(int(row.steps[-1]) for row in heat.rows)
    sampled = max(len(row.steps) for row in heat.rows)
    columns = max(1, min(80, max(20, _CELLS // len(heat.rows)), sampled))
    edges = np.linspace(first, last + 1, columns + 1)
    finite = np.concatenate([row.values[(row.bad == 0) & np.isfinite(row.values)] for row in heat.rows])
    axis = Axis(0.0, 1.0) if heat.unit == "share" else _colour_axis(finite[finite > 0])
    height = max(6.0, min(18.0, 440 / len(heat.rows)))
    bottom = _TOP + height * len(heat.rows)
    total = bottom + 62
    parts = [
        f'<svg viewBox="0 0 {_LABEL_WIDTH + _PLOT_WIDTH + 8} {total:.0f}" role="img" aria-label="{escape(heat.title)}">'
    ]
    every = math.ceil(12 / height)
    for index, row in enumerate(heat.rows):
        top = _TOP + index * height
        if index % every == 0:
            parts.append(_label(row.label, top + height / 2))
        parts += _cells(heat, row, edges, axis, top, height)
    parts += _below(heat, axis, first, last, bottom)
    return Markup("".join([*parts, "</svg>"]))


def _colour_axis(positive: FloatArray) -> Axis | None:
    """At least two decades of colour, so that mere noise does not look like a pattern."""
    if not len(positive):
        return None
    low, high = max(float(positive.min()), 1e-300), min(float(positive.max()), 1e300)
    spare = math.sqrt(max(1.0, 100 * low / high))
    return Axis(low / spare, high * spare, log=True)


def _label(name: str, middle: float) -> str:
    # The end of a dotted name tells layers apart; the beginning is often the same for all.
    short = name if len(name) <= _LABEL_LETTERS else "…" + name[1 - _LABEL_LETTERS :]
    return (
        f'<text class="tick end" x="{_LABEL_WIDTH - 6}" y="{middle + 4:.1f}">{escape(short)}'
        f"<title>{escape(name)}</title></text>"
    )


def _cells(
    heat: HeatMap, row: HeatRow, edges: FloatArray, axis: Axis | None, top: float, height: float
) -> Iterator[str]:
    written = share if heat.unit == "share" else measure
    width = _PLOT_WIDTH / (len(edges) - 1)
    positions = np.clip(np.searchsorted(edges, row.steps, side="right") - 1, 0, len(edges) - 2)
    typical = float(np.median(row.values[row.bad == 0])) if (row.bad == 0).any() else 0.0
    chosen: int | None = None
    for column in range(int(positions[0]), len(edges) - 1):
        inside = np.flatnonzero(positions == column)
        if len(inside):
            chosen = int(inside[_most_telling(row, inside, typical)])
        if chosen is None:
            continue
        value = float(row.values[chosen])
        said = "not finite" if row.bad[chosen] else written(value)
        style = "bad" if row.bad[chosen] else f"h{_level(axis, value)}"
        x = _LABEL_WIDTH + column * width
        yield (
            f'<rect class="{style}" x="{x:.1f}" y="{top:.1f}" width="{width + 0.3:.1f}" height="{height + 0.3:.1f}">'
            f"<title>{escape(row.label)}, step {count(int(row.steps[chosen]))}: {said}</title></rect>"
        )


def _most_telling(row: HeatRow, inside: IntArray, typical: float) -> int:
    """Of several values in a cell the one that stands out: not finite, else furthest from the row's median."""
    bad = row.bad[inside]
    if bad.any():
        return int(np.argmax(bad))
    values = row.values[inside]
    if typical > 0 and (values > 0).all():
        return int(np.argmax(np.abs(np.log(values / typical))))
    return int(np.argmax(np.abs(values - typical)))


def _level(axis: Axis | None, value: float) -> int:
    position = axis.position(value) if axis is not None else None
    return 0 if position is None else min(LEVELS - 1, int(position * LEVELS))


def _below(heat: HeatMap, axis: Axis | None, first: int, last: int, bottom: float) -> Iterator[str]:
    """Step axis and colour scale."""
    for tick in Axis(first, max(last, first + 1)).ticks(6):
        x = _LABEL_WIDTH + (tick - first) / max(1, last - first) * _PLOT_WIDTH
        anchor = "end" if x > _LABEL_WIDTH + _PLOT_WIDTH - 18 else "middle"
        if tick == int(tick):
            yield f'<text class="tick {anchor}" x="{x:.1f}" y="{bottom + 16:.1f}">{tick_label(tick, "step")}</text>'
    yield f'<text class="tick middle" x="{_LABEL_WIDTH + _PLOT_WIDTH / 2:.0f}" y="{bottom + 32:.1f}">step</text>'
    if axis is None:
        return
    top = bottom + 46
    written = share if heat.unit == "share" else measure
    low, high = written(axis.low), written(axis.high)
    yield f'<text class="tick end" x="{_LABEL_WIDTH - 6}" y="{top + 9:.1f}">{low}</text>'
    for level in range(LEVELS):
        yield f'<rect class="h{level}" x="{_LABEL_WIDTH + 15 * level}" y="{top:.1f}" width="15.3" height="10"/>'
    yield f'<text class="tick" x="{_LABEL_WIDTH + 15 * LEVELS + 6}" y="{top + 9:.1f}">{high}</text>'
