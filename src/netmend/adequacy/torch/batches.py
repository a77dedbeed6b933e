"""Batches of any form in which people keep data, and how each is given to a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
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

from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.adequacy.collected import Integers
from netmend.errors import UsageError

# Batches: any form in which people keep data, as batches in an order that can be told again.

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


# Calls: how a batch is given to a model, which part of it are labels, and what of the answer counts.

LABELS = ("labels", "label", "targets", "target", "y")
_MODEL_OUTPUTS = ("logits", "prediction_logits", "output", "out")


class Call:
    """Gives batches to one model. `forward(model, batch)` of the user's replaces the guess at what its inputs are."""

    def __init__(self, model: nn.Module, forward: Callable[[Any, Any], Any] | None) -> None:
        self.model, self.forward = model, forward
        self._required, self._any_number, self._names, self._any_name = _signature(model)
        held = [*model.parameters(), *model.buffers()]
        self._device = held[0].device if held else torch.device("cpu")

    def __call__(self, batch: Any, name: str) -> tuple[Any, Tensor | None, int]:
        """The answer, the labels if there are any, and how many inputs the batch holds."""
        moved = _moved(batch, self._device)
        inputs, labels = self._split(moved)
        try:
            answer = self.forward(self.model, moved) if self.forward is not None else self._called(inputs)
        except Exception as problem:
            raise UsageError(
                f"the model cannot be called with a batch of {name}: {type(problem).__name__}: {problem}; "
                "say how with forward=lambda model, batch: …"
            ) from problem
        given = first_tensor(inputs)
        if labels is not None and labels.dim() > 0:
            return answer, labels, len(labels)
        if given is None or given.dim() == 0:
            raise UsageError(
                f"a batch of {name} holds no tensor; batches must be tensors, tuples or dictionaries of them"
            )
        return answer, None, len(given)

    def _called(self, inputs: Any) -> Any:
        if isinstance(inputs, dict):
            return self.model(**inputs)
        return self.model(*inputs)

    def _split(self, batch: Any) -> tuple[Any, Tensor | None]:
        """Arguments of the model, and labels."""
        if isinstance(batch, Mapping):
            label = next((_tensor(batch[key]) for key in LABELS if key in batch), None)
            rest = {str(key): value for key, value in batch.items() if key not in LABELS}
            named = {key: value for key, value in rest.items() if self._any_name or key in self._names}
            return (named or tuple(rest.values())[:1]), label
        if isinstance(batch, (tuple, list)):
            taken = max(1, len(batch) - 1 if self._any_number else self._required)
            return tuple(batch[:taken]), _tensor(batch[-1]) if len(batch) > taken else None
        return (batch,), None


def answer_rows(answer: Any, count: int) -> Tensor | None:
    """One row of numbers for each input; None where the answer has another shape."""
    if not isinstance(answer, (Tensor, tuple, list, dict)) or isinstance(answer, Mapping):
        named = (_item(answer, key) for key in _MODEL_OUTPUTS)
        answer = next((value for value in named if isinstance(value, Tensor)), answer)
    found = first_tensor(dict(answer) if isinstance(answer, Mapping) else answer)
    if found is None or found.is_complex() or found.dim() == 0 or len(found) != count:
        return None
    while found.dim() > 2 and found.shape[-1] == 1:
        found = found.squeeze(-1)
    if found.dim() > 2:
        return None
    return found.unsqueeze(1) if found.dim() == 1 else found


def _item(answer: Any, key: str) -> Any:
    return answer.get(key) if isinstance(answer, Mapping) else getattr(answer, key, None)


def _signature(model: nn.Module) -> tuple[int, bool, set[str], bool]:
    """Required positional arguments, whether any number is taken, all names, whether any name is taken."""
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return 1, False, set(), False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.kind in positional and one.default is inspect.Parameter.empty]
    kinds = {one.kind for one in parameters}
    names = {
        one.name
        for one in parameters
        if one.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }
    any_number = inspect.Parameter.VAR_POSITIONAL in kinds and not needed
    return len(needed), any_number, names, inspect.Parameter.VAR_KEYWORD in kinds


def _tensor(value: Any) -> Tensor | None:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray) or (isinstance(value, (list, tuple)) and value):
        array = np.asarray(value) if not isinstance(value, np.ndarray) else value
        return torch.from_numpy(array) if array.dtype.kind in "biuf" else None
    return None


def _moved(batch: Any, device: torch.device) -> Any:
    if isinstance(batch, Tensor):
        return batch.to(device)
    if isinstance(batch, np.ndarray) and batch.dtype.kind in "biuf":
        tensor = torch.from_numpy(np.ascontiguousarray(batch))
        return (tensor.to(torch.get_default_dtype()) if batch.dtype == np.float64 else tensor).to(device)
    if isinstance(batch, Mapping):
        return {key: _moved(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_moved(value, device) for value in batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(_moved(value, device) for value in batch)
    return batch.to(device) if hasattr(batch, "to") else batch
