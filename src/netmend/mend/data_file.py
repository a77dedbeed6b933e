"""Inputs and wanted answers in an .npz file: plain arrays, nothing is unpickled."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError

INPUTS, WANTED = ("x", "inputs"), ("y", "wanted", "labels")
_FORM = "x (inputs; x0, x1, … where the model takes several) and y (what is wanted)"


def read_data(path: Path) -> tuple[Any, Any]:
    """(inputs, wanted); inputs are a tuple where the model takes several, wanted is None where the file has none."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}; give an .npz file with the arrays {_FORM}")
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
        AttributeError,
        TypeError,
        zipfile.BadZipFile,
    ) as problem:
        told = (str(problem).splitlines() or [type(problem).__name__])[0][:200]
        raise UsageError(
            f"{path} cannot be read as an .npz file of plain arrays: {told}. Save it with "
            "numpy.savez(FILE, x=inputs, y=wanted)"
        ) from None
    several = [f"x{number}" for number in range(len(arrays)) if f"x{number}" in arrays]
    inputs = [name for name in INPUTS if name in arrays]
    wanted = [name for name in WANTED if name in arrays]
    unknown = sorted(arrays.keys() - {*inputs, *wanted, *several})
    if unknown or len(inputs) + bool(several) != 1 or len(wanted) > 1 or not _counted(several):
        listed = ", ".join(sorted(arrays)) or "none"
        raise UsageError(f"{path} should hold the arrays {_FORM}; it holds {listed}")
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise UsageError(f"{name} in {path} holds {array.dtype}; give numbers")
    held_inputs = tuple(arrays[name] for name in several) if several else arrays[inputs[0]]
    return held_inputs, arrays[wanted[0]] if wanted else None


def _counted(several: list[str]) -> bool:
    return several == [f"x{number}" for number in range(len(several))]
