"""What an axis leaves out of a plot, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.report.axes import Axis, tick_label
from netmend.report.curves import Curve
from netmend.report.numbers import count


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
