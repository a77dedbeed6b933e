"""Batches: any form in which people keep data, as batches in an order that can be told again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
)

from netmend.adequacy.arrays import Integers
from netmend.errors import UsageError

BATCH = 64  # where the data does not come in batches already
_ACCEPTED = (
    "a DataLoader, a Dataset, tensors or arrays (x, (x, y) or a dictionary), or an iterable of batches"
)


@dataclass(frozen=True)
class Batches:
    """Batches of a set; `indices` says which of its inputs they hold, one after the other."""

    batches: Iterable[Any]
    indices: Integers | None  # None: as many as come, counted from 0
    total: int | None
    note: str = ""


def batches_of(data: Any, name: str, limit: int, seed: int) -> Batches:
    """At most about `limit` inputs: a random choice where inputs can be chosen, else the first ones."""
    if isinstance(data, DataLoader):
        return _of_loader(data, limit, seed)
    if isinstance(data, IterableDataset):
        return Batches(DataLoader(data, BATCH), None, None)
    columns = _columns(data)
    if columns is not None:
        return _of_columns(columns, name, limit, seed)
    if isinstance(data, Dataset) or (hasattr(data, "__getitem__") and _is_dataset(data)):
        return _of_dataset(data, range(len(data)), limit, seed, BATCH, None)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, Mapping)):
        return Batches(data, None, None, _AS_IT_COMES)
    raise UsageError(f"{name} is of type {type(data).__name__}; give {_ACCEPTED}")


_AS_IT_COMES = "indices count inputs in the order in which they came"


def _of_loader(loader: DataLoader[Any], limit: int, seed: int) -> Batches:
    dataset, sampler = loader.dataset, loader.sampler
    ordinary = type(loader.batch_sampler) is BatchSampler and not isinstance(dataset, IterableDataset)
    places: Iterable[int] | None = None
    if ordinary and type(sampler) is SubsetRandomSampler:
        places = sorted(int(place) for place in sampler.indices)
    elif ordinary and type(sampler) in (SequentialSampler, RandomSampler):
        places = range(len(dataset))  # type: ignore[arg-type]
    if places is None or loader.batch_size is None:
        return Batches(loader, None, None, _AS_IT_COMES)
    return _of_dataset(dataset, places, limit, seed, loader.batch_size, loader.collate_fn)


def _of_dataset(
    dataset: Any, places: Iterable[int], limit: int, seed: int, batch: int, collate: Any
) -> Batches:
    """In the order of the data set, also where training shuffles: an index must mean something."""
    known = np.fromiter(places, dtype=np.int64)
    chosen = _chosen(known, limit, seed)
    ordered: DataLoader[Any] = DataLoader(Subset(dataset, chosen.tolist()), batch, collate_fn=collate)
    return Batches(ordered, chosen, len(known))


def _columns(data: Any) -> Any:
    """A tensor, array or table; a tuple or mapping of those; None for anything else."""
    if isinstance(data, Mapping) and data and all(_is_column(value) for value in data.values()):
        return {key: _column(value) for key, value in data.items()}
    if isinstance(data, tuple) and data and all(_is_column(value) for value in data):
        return tuple(_column(value) for value in data)
    return (_column(data),) if _is_column(data) else None


def _is_column(value: Any) -> bool:
    return (isinstance(value, (Tensor, np.ndarray)) and value.ndim > 0) or hasattr(value, "to_numpy")


def _column(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    array = np.ascontiguousarray(value.to_numpy() if hasattr(value, "to_numpy") else value)
    if array.dtype == object or array.dtype.kind in "USMm":
        raise UsageError(f"an array of type {array.dtype} cannot be given to a model; give numbers")
    tensor = torch.from_numpy(array.copy())
    return tensor.to(torch.get_default_dtype()) if array.dtype == np.float64 else tensor


def _of_columns(columns: Any, name: str, limit: int, seed: int) -> Batches:
    values = list(columns.values()) if isinstance(columns, dict) else list(columns)
    lengths = [len(value) for value in values]
    if len(set(lengths)) > 1:
        raise UsageError(
            f"{name} has columns of different lengths ({', '.join(map(str, lengths))}); all must have one row per input"
        )
    chosen = _chosen(np.arange(lengths[0]), limit, seed)
    return Batches(_Slices(columns, chosen), chosen, lengths[0])


@dataclass(frozen=True)
class _Slices:
    columns: Any
    chosen: Integers

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self.chosen), BATCH):
            rows = torch.from_numpy(self.chosen[start : start + BATCH])
            if isinstance(self.columns, dict):
                yield {key: value[rows.to(value.device)] for key, value in self.columns.items()}
            elif len(self.columns) == 1:
                yield self.columns[0][rows.to(self.columns[0].device)]
            else:
                yield tuple(value[rows.to(value.device)] for value in self.columns)


def _chosen(places: Integers, limit: int, seed: int) -> Integers:
    if len(places) <= limit:
        return places
    return np.sort(np.random.default_rng(seed).choice(places, limit, replace=False))


def _is_dataset(data: Any) -> bool:
    """A class of the user's with `__getitem__` and `__len__`, as data loaders accept it; a list is a list of batches."""
    return hasattr(data, "__len__") and not isinstance(data, (list, tuple, str, bytes, Mapping))
