"""Figures of the page: a curve on one or two scales, or a heat map, each with an address to refer to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup

from netmend.report.curves import Curve
from netmend.report.heatmap import HeatMap, draw
from netmend.report.svg import line_chart, line_classes

_NOTHING = Markup("")


@dataclass(frozen=True)
class Plot:
    """A figure; where a second scale shows something else, a switch chooses."""

    title: str
    drawing: Markup
    other: Markup = _NOTHING  # on a logarithmic or clipped axis
    other_name: str = "log"
    prefers_other: bool = False
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""
    wide: bool = False

    @property
    def address(self) -> str:
        return "figure-" + re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def plot(curve: Curve) -> Plot | None:
    """Both scales are drawn where both make sense; None where nothing finite was measured."""
    lines = [line for line in curve.lines if len(line.steps)]
    legend = tuple((line.label, style) for line, style in zip(lines, line_classes(lines), strict=True))
    drawing = line_chart(curve)
    if not drawing:
        return None
    scaled = curve.unit == "share" or curve.title == "learning rate"
    other = _NOTHING if scaled else line_chart(curve, log=True)
    # An axis that had to fall back (a constant) is no second view.
    if other == drawing:
        other = _NOTHING
    negative = any((line.values < 0).any() for line in lines)
    return Plot(
        curve.title,
        drawing,
        other,
        "clipped" if negative else "log",
        bool(curve.log and other),
        legend if len(legend) > 1 else (),
    )


def heat_plot(heat: HeatMap) -> Plot:
    return Plot(heat.title, draw(heat), note=heat.note, wide=True)
