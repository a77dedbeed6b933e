"""Inputs and labels of a test set as arrays, in batches as the model takes them; kept in one file for the mutants."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netmend.adapters.torch.subject.calls import as_tensors, sample_keys

MOST_ROWS = 512  # of one batch


@dataclass(frozen=True)
class Batch:
    """Inputs as they reach the model, and labels."""

    inputs: tuple[np.ndarray, ...]
    label: np.ndarray


@dataclass(frozen=True)
class Data:
    """One test set."""

    batches: tuple[Batch, ...]
    names: tuple[str, ...] = ("",)  # of inputs that the model is given by name
    whole: bool = True
    packed: bool = False  # samples are no rows of the inputs: a batch is only put to the model as a whole

    @property
    def digest(self) -> str:
        found = hashlib.blake2b(digest_size=12)
        for batch in self.batches:
            for array in (*batch.inputs, batch.label):
                found.update(f"{array.shape} {array.dtype}".encode())
                found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    @property
    def labels(self) -> np.ndarray | None:
        """All of them in a row; None where batches differ in shape."""
        shapes = {batch.label.shape[1:] for batch in self.batches}
        return np.concatenate([batch.label for batch in self.batches]) if len(shapes) == 1 else None

    @property
    def inputs(self) -> int:
        return sum(len(batch.label) for batch in self.batches)


def merged(batches: Sequence[Batch], packed: bool = False) -> tuple[Batch, ...]:
    """Neighbours of the same shape as one, up to a size that is handled at once; packed ones as they are."""
    if packed:
        return tuple(batches)
    found: list[list[Batch]] = []
    for batch in batches:
        last = found[-1] if found else []
        rows = sum(len(each.label) for each in last) + len(batch.label)
        if last and rows <= MOST_ROWS and _shape(last[0]) == _shape(batch):
            last.append(batch)
        else:
            found.append([batch])
    return tuple(_joined(group) for group in found)


def _shape(batch: Batch) -> tuple[Any, ...]:
    return tuple((array.shape[1:], array.dtype) for array in (*batch.inputs, batch.label))


def _joined(group: list[Batch]) -> Batch:
    if len(group) == 1:
        return group[0]
    inputs = tuple(np.concatenate(parts) for parts in zip(*(each.inputs for each in group), strict=True))
    return Batch(inputs, np.concatenate([each.label for each in group]))


def as_array(tensor: Tensor) -> np.ndarray:
    plain = tensor.detach().cpu()
    return (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()


def canonical_order(data: Data) -> np.ndarray:
    """Rows by their content: batches come shuffled, and the same data shall be the same in all trainings."""
    keys = [key for batch in data.batches for key in _keys(batch)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def sorted_digest(data: Data) -> str:
    """The same for the same inputs with the same labels in any order."""
    found = hashlib.blake2b(digest_size=12)
    for row in sorted(_rows_of(data)):
        found.update(row)
    return found.hexdigest()


def _rows_of(data: Data) -> Iterator[bytes]:
    for batch in data.batches:
        labels = np.ascontiguousarray(batch.label)
        for number, key in enumerate(_keys(batch)):
            yield key + labels[number].tobytes()


def _keys(batch: Batch) -> list[bytes]:
    return sample_keys(as_tensors(batch.inputs), len(batch.label))


def write_data(sets: dict[str, Data], more: dict[str, Any], file: Path) -> None:
    arrays: dict[str, np.ndarray] = {}
    meta: dict[str, Any] = {"sets": {}, **more}
    for name, data in sets.items():
        meta["sets"][name] = {
            "names": data.names,
            "whole": data.whole,
            "packed": data.packed,
            "batches": len(data.batches),
        }
        for number, batch in enumerate(data.batches):
            arrays[f"{name}/{number}/label"] = batch.label
            arrays |= {f"{name}/{number}/{place}": array for place, array in enumerate(batch.inputs)}
    temporary = file.with_name(f"new-{file.name}")
    np.savez_compressed(temporary, **{**arrays, "meta": np.array(json.dumps(meta))})  # type: ignore[arg-type]
    temporary.replace(file)


def read_data(file: Path) -> tuple[dict[str, Data], dict[str, Any]]:
    with np.load(file, allow_pickle=False) as arrays:
        meta = json.loads(str(arrays["meta"]))
        sets = {}
        for name, about in meta["sets"].items():
            batches = tuple(_batches(arrays, name, about["batches"], len(about["names"])))
            sets[name] = Data(batches, tuple(about["names"]), about["whole"], about.get("packed", False))
    return sets, meta


def _batches(arrays: Any, name: str, count: int, parts: int) -> Iterator[Batch]:
    for number in range(count):
        inputs = tuple(arrays[f"{name}/{number}/{place}"] for place in range(parts))
        yield Batch(inputs, arrays[f"{name}/{number}/label"])
