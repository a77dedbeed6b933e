"""The data file beside a program: the part of a data set that its port uses, in the shape it uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import arrays
from bench.datasets.catalog import get
from bench.faults22.reading import FILES
from bench.faults22.sizes import Port
from netmend.errors import UsageError


def write_data(port: Port, folder: Path, data: Path | None = None) -> None:
    """Nothing for a program that generates its own data."""
    if not port.data:
        return
    content = arrays.load(get(port.data, data))
    for part, count in (("train", port.train), ("test", port.test)):
        if len(content[f"x_{part}"]) < count:
            raise UsageError(
                f"the data set {port.data!r} has {len(content[f'x_{part}'])} {part} samples, {count} are needed; "
                f"delete it and run `netmend bench setup`"
            )
        for name in (f"x_{part}", f"y_{part}"):
            content[name] = content[name][:count]
    if port.side:
        for name in ("x_train", "x_test"):
            content[name] = images(content[name], port.side, colours=port.data == "fashion")
    file = folder / FILES[port.data]
    if file.suffix == ".csv":
        _table(file, content)
    else:
        named: dict[str, Any] = dict(content)
        with file.open("wb") as stream:
            np.savez_compressed(stream, **named)


def images(values: NDArray[Any], side: int, colours: bool) -> NDArray[Any]:
    """28×28 grey bytes as side×side: the middle of them, or averaged in squares of 2×2 and padded with black."""
    if side <= 16:
        squares = values.reshape(len(values), 14, 2, 14, 2).astype(np.float32)
        values = np.rint(squares.mean(axis=(2, 4))).astype(np.uint8)
    now = values.shape[1]
    if now > side:
        cut = (now - side) // 2
        values = values[:, cut : cut + side, cut : cut + side]
    elif now < side:
        edge = (side - now) // 2
        values = np.pad(values, ((0, 0), (edge, edge), (edge, edge)))
    return np.repeat(values[..., None], 3, axis=3) if colours else values


def _table(file: Path, content: arrays.Arrays) -> None:
    x = np.concatenate([content["x_train"], content["x_test"]])
    y = np.concatenate([content["y_train"], content["y_test"]])
    names = [f"column_{number}" for number in range(x.shape[1])]
    rows = np.column_stack([x, y])
    np.savetxt(file, rows, fmt="%.6g", delimiter=",", header=",".join([*names, "label"]), comments="")
