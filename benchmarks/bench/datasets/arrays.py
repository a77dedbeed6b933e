"""Data sets on disk: one .npz per set, plain arrays only, with a sentence that says what is inside."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netmend.errors import UsageError

Arrays = Mapping[str, NDArray[Any]]
PARTS = ("x_train", "y_train", "x_test", "y_test")


def save(file: Path, arrays: Arrays, about: str) -> None:
    """Written beside and then moved, so that an interrupted set-up leaves no half file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.{os.getpid()}.part")
    named: dict[str, Any] = {"about": np.array(about), **arrays}
    with beside.open("wb") as stream:
        np.savez_compressed(stream, **named)
    beside.replace(file)


def load(file: Path) -> dict[str, NDArray[Any]]:
    return _read(file, PARTS)


def about(file: Path) -> str:
    """What the file says about itself."""
    return str(_read(file, ("about",))["about"])


def _read(file: Path, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    try:
        with np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile) as problem:
        raise UsageError(
            f"{file} is not a data set of the benchmark ({problem}); delete it and run `netmend bench setup`"
        ) from None
