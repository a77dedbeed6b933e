"""The inputs that a test set lacks, as a file that can be tested with: taken from the data that the original was examined on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from netmend.errors import UsageError
from netmend.mutate.result import MutationResult


def write_added(result: MutationResult, file: Path) -> int:
    """Inputs `x` (`x0`, `x1` … for models with several) and labels `y` for the first set with additions; how many there are."""
    chosen = next((each for each in result.sets if each.additions), None)
    if chosen is None:
        np.savez_compressed(_open(file), x=np.zeros(0), y=np.zeros(0))
        return 0
    numbers = sorted({number for addition in chosen.additions for number in addition.inputs})
    columns = rows_of(Path(result.data), chosen.pool, numbers)
    *inputs, labels = columns
    named = {"x": inputs[0]} if len(inputs) == 1 else {f"x{place}": each for place, each in enumerate(inputs)}
    np.savez_compressed(_open(file), **named, y=labels)  # type: ignore[arg-type]
    return len(labels)


def _open(file: Path) -> Path:
    return file if file.suffix == ".npz" else file.with_name(f"{file.name}.npz")


def rows_of(data: Path, name: str, numbers: list[int]) -> list[np.ndarray]:
    """Rows of a set, by their numbers: each of its inputs, and the labels last."""
    try:
        with np.load(data, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["meta"]))["sets"][name]
            if about.get("packed"):
                raise UsageError(
                    "the model is given several inputs packed into one tensor, which cannot be written one by one; "
                    "take them by their numbers instead"
                )
            parts = [*map(str, range(len(about["names"]))), "label"]
            batches = [
                [arrays[f"{name}/{number}/{part}"] for part in parts] for number in range(about["batches"])
            ]
    except (OSError, KeyError, ValueError) as problem:
        raise UsageError(
            f"the data of the original is gone ({problem}); run the same command again"
        ) from None
    starts = np.cumsum([0, *(len(batch[-1]) for batch in batches)])
    rows: list[list[np.ndarray]] = [[] for _ in parts]
    for number in numbers:
        batch = int(np.searchsorted(starts, number, side="right")) - 1
        for column, array in zip(rows, batches[batch], strict=True):
            column.append(array[number - int(starts[batch])])
    if any(len({row.shape for row in column}) > 1 for column in rows):
        raise UsageError(
            "the inputs differ in size and do not fit into one array; take them by their numbers instead"
        )
    return [np.stack(column) for column in rows]
