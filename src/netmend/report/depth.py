"""Gradient against depth: where in the network the gradient fades or swells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.report.content import clean
from netmend.report.curves import Curve, Line
from netmend.report.layers import LayerRow, layer_rows
from netmend.vocabulary import Trace

_MOST_MODELS = 4


def depth_curves(trace: Trace) -> Iterator[Curve]:
    """Per model, the gradient rms of its layers in execution order: at first, typically, at last."""
    models: dict[str, list[LayerRow]] = {}
    for row in layer_rows(trace):
        if row.order is not None and row.parameters:
            models.setdefault(row.model, []).append(row)
    for model, rows in list(models.items())[:_MOST_MODELS]:
        title = "gradient rms by depth" + (f", {clean(model)}" if len(models) > 1 else "")
        curve = _curve(trace, rows, title)
        if curve is not None:
            yield curve


def _curve(trace: Trace, rows: list[LayerRow], title: str) -> Curve | None:
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
