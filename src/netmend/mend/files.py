"""Files that hold inputs and wanted answers, and files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError

# Inputs and wanted answers in an .npz file: plain arrays, nothing is unpickled.

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


# Files that are written whole or not at all.


def beside(path: Path) -> Path:
    """A name for a temporary file or folder in the same folder, so that it can be renamed in one step."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary file to write to; it takes the place of the path when all went well, and goes otherwise."""
    refuse_no_folder(path)
    temporary = beside(path)
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror or problem}") from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def folder_whole(path: Path) -> Iterator[Path]:
    """The same for a folder, which must not be there yet."""
    refuse_no_folder(path)
    temporary = beside(path)
    try:
        temporary.mkdir()
        yield temporary
        temporary.rename(path)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync(path: Path) -> None:
    """Onto the disk before it is renamed: otherwise a power cut could leave an empty file in place of a good one."""
    # A copy of a read-only file is read-only, too; only Windows insists on writing for this.
    with path.open("rb" if os.name == "posix" else "rb+") as file:
        os.fsync(file.fileno())


def refuse_no_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise UsageError(f"the folder {path.absolute().parent} does not exist; create it first")
