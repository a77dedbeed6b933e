"""Figures of the page, each with an address to refer to: line plots as inline SVG (axes with labels, tooltips by <title>, no script), and heat maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np
from markupsafe import Markup

from netmend.report.axes import Axis, tick_label
from netmend.report.numbers import count, measure, share
from netmend.report.run.curves import Curve, Line, cuts, thin
from netmend.report.run.layers import HeatMap, draw

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


WIDTH, HEIGHT = 520, 232
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 10, 40  # LEFT grows with the labels
_LETTER = 8.4  # width of a label's character where the page enlarges labels, on a phone
_NOTE = 18  # height of a line that tells what an axis leaves out
_BUCKETS = 180  # stretches of a line; each keeps up to four points, about one per pixel of a large screen
_STRIPS = 60  # places along the axis that answer to the pointer
_COLOURS = 4  # training lines before colours repeat
_POINTS = 60  # a line of fewer values shows each as a dot


def line_chart(curve: Curve, log: bool = False) -> Markup:
    """The curve as one <svg>; empty when nothing finite was measured."""
    lines = [line for line in curve.lines if len(line.steps)]
    axis = Axis.over([line.values for line in lines], log=log)
    if axis is None:
        return Markup("")
    if not axis.log and 0 < axis.low < 0.35 * axis.high:
        # Close to zero anyway: a base line at zero keeps the proportions honest.
        axis = Axis(0.0, axis.high)
    ends = [step for line in lines for step in (int(line.steps[0]), int(line.steps[-1]))] + list(curve.marks)
    frame = _Frame(axis, min(ends), max(ends), curve.unit)
    left_out = list(cuts(curve, axis))
    top = -_NOTE * len(left_out)
    parts = [
        f'<svg viewBox="0 {top} {WIDTH} {HEIGHT - top}" role="img" aria-label="{escape(_described(curve), quote=True)}">',
        *(_cut(text, top + _NOTE * row) for row, text in enumerate(left_out, start=1)),
        *_value_axis(frame),
        *_step_axis(frame, "layer, from input to output" if curve.names else "step"),
        *_marks(frame, curve),
        *(
            part
            for line, style in zip(lines, line_classes(lines), strict=True)
            for part in _drawn(frame, line, style)
        ),
        *_strips(frame, curve, lines),
        "</svg>",
    ]
    return Markup("".join(parts))


def line_classes(lines: list[Line]) -> list[str]:
    """The CSS class of each line: training lines take the colours in turn."""
    training = 0
    found = []
    for line in lines:
        if line.role == "training":
            found.append(f"c{training % _COLOURS}")
            training += 1
        else:
            found.append(line.role)
    return found


class _Frame:
    """Where steps and values lie in the picture."""

    def __init__(self, axis: Axis, first: int, last: int, unit: str) -> None:
        self.axis = axis
        self.first, self.last = first, max(last, first + 1)
        self.ticks = [(value, tick_label(value, unit)) for value in axis.ticks(4)]
        longest = max((len(label) for _, label in self.ticks), default=0)
        self.left = max(LEFT, round(10 + _LETTER * longest))

    def x(self, step: float) -> float:
        return self.left + (step - self.first) / (self.last - self.first) * (WIDTH - self.left - RIGHT)

    def y(self, value: float) -> float | None:
        position = self.axis.position(value)
        return None if position is None else TOP + (1 - position) * (HEIGHT - TOP - BOTTOM)


def _cut(text: str, bottom: int) -> str:
    return f'<text class="cut end" x="{WIDTH - RIGHT}" y="{bottom - 4}">{escape(text)}</text>'


def _value_axis(frame: _Frame) -> Iterator[str]:
    for value, label in frame.ticks:
        y = frame.y(value)
        if y is None:
            continue
        yield f'<line class="grid" x1="{frame.left}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick end" x="{frame.left - 7}" y="{y + 4:.1f}">{escape(label)}</text>'


def _step_axis(frame: _Frame, name: str) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    yield f'<line class="axis" x1="{frame.left}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>'
    ticks = [tick for tick in Axis(frame.first, frame.last).ticks(5) if tick == int(tick)]
    for tick in ticks:
        x = frame.x(tick)
        # The outermost labels would stick out of the picture if centred.
        anchor = "end" if x > WIDTH - RIGHT - 18 else "middle"
        yield f'<text class="tick {anchor}" x="{x:.1f}" y="{bottom + 16}">{tick_label(tick, "step")}</text>'
    yield f'<text class="tick middle" x="{(frame.left + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 6}">{escape(name)}</text>'


def _marks(frame: _Frame, curve: Curve) -> Iterator[str]:
    for step in curve.marks:
        x = frame.x(step)
        yield f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'


def _drawn(frame: _Frame, line: Line, style: str) -> Iterator[str]:
    """The line itself, broken where a value is not finite; such places get a red cross at the top."""
    steps, values = thin(line.steps, line.values, _BUCKETS)
    path: list[str] = []
    dots: list[str] = []
    broken = True
    for step, value in zip(steps.tolist(), values.tolist(), strict=True):
        x, y = frame.x(step), frame.y(value)
        if y is None:
            broken = True
            if not np.isfinite(value):
                dots.append(f'<text class="cross" x="{x:.1f}" y="{TOP + 8}">×</text>')
            continue
        path.append(f"{'M' if broken else 'L'}{x:.1f} {y:.1f}")
        broken = False
        if len(line.steps) <= _POINTS and line.role != "reference":
            dots.append(f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="2.2"/>')
    yield f'<path class="line {style}" d="{"".join(path)}"/>'
    yield from dots


def _strips(frame: _Frame, curve: Curve, lines: list[Line]) -> Iterator[str]:
    """Invisible upright strips whose tooltip tells the values there."""
    positions = np.unique(np.concatenate([line.steps for line in lines]))
    if len(positions) > _STRIPS:
        positions = positions[np.linspace(0, len(positions) - 1, _STRIPS).round().astype(int)]
    middles = (positions[:-1] + positions[1:]) / 2
    starts = [frame.left, *(frame.x(float(middle)) for middle in middles)]
    stops = [*starts[1:], WIDTH - RIGHT]
    written = share if curve.unit == "share" else measure
    for position, start, stop in zip(positions.tolist(), starts, stops, strict=True):
        told = [curve.names[position - 1] if curve.names else f"step {count(position)}"]
        for line in lines:
            index = min(int(np.searchsorted(line.steps, position)), len(line.steps) - 1)
            told.append(f"{line.label}: {written(float(line.values[index]))}")
        yield (
            f'<rect class="strip" x="{start:.1f}" y="{TOP}" width="{max(0.5, stop - start):.1f}" '
            f'height="{HEIGHT - TOP - BOTTOM}"><title>{escape(chr(10).join(told))}</title></rect>'
        )


def _described(curve: Curve) -> str:
    """The plot in words, for those who cannot see it."""
    written = share if curve.unit == "share" else measure
    told = [
        f"{line.label} from {written(float(line.values[0]))} to {written(float(line.values[-1]))}"
        for line in curve.lines
        if len(line.steps)
    ]
    return f"{curve.title}: {'; '.join(told)}"
