"""The loop protocol for the HTML page: the calls of each pattern, and a strip showing when it was followed."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from netmend.report.content import Grid
from netmend.report.orders import shown_orders
from netmend.report.run_sections import protocol_section
from netmend.vocabulary import Pattern, Trace

_WIDTH, _HEIGHT = 600, 10
_PIXELS = 300  # resolution of the strip: thousands of spans must not become thousands of shapes


@dataclass(frozen=True)
class Timeline:
    """One order of calls: its rows (line, call, component, detail, times) and its strip."""

    grid: Grid
    strip: Markup


def timelines(trace: Trace) -> tuple[Timeline, ...]:
    """The patterns in the order of the protocol section, each with its strip."""
    grids = protocol_section(trace).grids
    last = max((span[1] for pattern in trace.patterns for span in pattern.spans), default=1)
    return tuple(
        Timeline(grid, _strip(order.pattern, last))
        for grid, order in zip(grids, shown_orders(trace), strict=True)
    )


def _strip(pattern: Pattern, last: int) -> Markup:
    """Where between the first and the last step the pattern was followed."""
    covered = [False] * _PIXELS
    for start, stop in pattern.spans:
        low = int((start - 1) / max(1, last) * _PIXELS)
        high = int((stop - 0.5) / max(1, last) * _PIXELS)
        for index in range(max(0, low), min(_PIXELS, max(low, high) + 1)):
            covered[index] = True
    scale = _WIDTH / _PIXELS
    shapes = []
    index = 0
    while index < _PIXELS:
        end = index
        while end < _PIXELS and covered[end]:
            end += 1
        if end > index:
            width = (end - index) * scale
            shapes.append(
                f'<rect class="c0" x="{index * scale:.0f}" y="0" width="{width:.0f}" height="{_HEIGHT}"/>'
            )
        index = max(end, index + 1)
    return Markup(
        f'<svg class="span" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="steps that follow this order">{"".join(shapes)}</svg>'
    )
