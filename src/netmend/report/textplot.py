"""Small plots made of characters: a sparkline and a braille plot with axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from netmend.report.axes import Axis, tick_label
from netmend.report.run.curves import Curve, Line, thin

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = "_.-=+*#@"
_BRAILLE = 0x2800
# Bits of the dots of a braille character, by column and row from the top.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_ASCII_MARKS = "*o+x#@%&"


def sparkline(values: Sequence[float], plain: bool = False) -> str:
    """One character per value, between the lowest and the highest; `plain` stays within ASCII."""
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    blocks = _ASCII_BLOCKS if plain else _BLOCKS
    low, high = min(finite), max(finite)
    if low == high:
        return blocks[0] * len(finite)
    scale = (len(blocks) - 1) / (high - low)
    return "".join(blocks[round((value - low) * scale)] for value in finite)


def text_plot(curve: Curve, width: int, height: int = 7, plain: bool = False) -> list[tuple[str, list[str]]]:
    """Rows of a plot, each its label and one string per line of the curve (to be laid over each other).

    The layers are kept apart so that the caller may colour them; a blank cell lets the next layer show through.
    """
    lines = [line for line in curve.lines if np.isfinite(line.values).any()]
    axis = Axis.over([line.values for line in lines], log=curve.log)
    if axis is None:
        return []
    steps = np.concatenate([line.steps for line in lines])
    first, last = int(steps.min()), int(steps.max())
    labels = [tick_label(value, curve.unit) for value in (axis.high, axis.middle, axis.low)]
    margin = max(map(len, labels))
    columns = max(10, width - margin - 2)
    layers = [
        _layer(line, axis, (first, last), columns, height, _ASCII_MARKS[index % 8] if plain else "")
        for index, line in enumerate(lines)
    ]
    at = {0: labels[0], height // 2: labels[1], height - 1: labels[2]}
    edge = "|" if plain else "│"
    return [
        (f"{at.get(row, ''):>{margin}} {edge}", [layer[row] for layer in layers]) for row in range(height)
    ]


def _layer(line: Line, axis: Axis, span: tuple[int, int], columns: int, height: int, mark: str) -> list[str]:
    """One line drawn on its own, as one string per row; with braille dots unless a `mark` is given."""
    across, down = (columns, height) if mark else (2 * columns, 4 * height)
    cells = [[0] * columns for _ in range(height)]
    steps, values = thin(line.steps, line.values, across)
    width = max(1, span[1] - span[0])
    previous: tuple[int, int] | None = None
    for step, value in zip(steps.tolist(), values.tolist(), strict=True):
        position = axis.position(value)
        if position is None:
            previous = None
            continue
        here = round((step - span[0]) / width * (across - 1)), round((1 - position) * (down - 1))
        for x, y in _between(previous or here, here):
            if mark:
                cells[y][x] = 1
            else:
                cells[y // 4][x // 2] |= _DOTS[x % 2][y % 4]
        previous = here
    if mark:
        return ["".join(mark if cell else " " for cell in row) for row in cells]
    return ["".join(chr(_BRAILLE + cell) if cell else " " for cell in row) for row in cells]


def _between(start: tuple[int, int], stop: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots of a straight line."""
    length = max(abs(stop[0] - start[0]), abs(stop[1] - start[1]))
    if length == 0:
        return [stop]
    return [
        (
            round(start[0] + (stop[0] - start[0]) * index / length),
            round(start[1] + (stop[1] - start[1]) * index / length),
        )
        for index in range(length + 1)
    ]
