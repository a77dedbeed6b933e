"""Where test sets come from: what was heard while the program ran, its variables, files, functions."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from netmend.adapters.torch.subject.calls import MOST_TEST, Heard, Layout, Passage, sample_keys
from netmend.adapters.torch.subject.data import MOST_ROWS, Batch, Data, as_array, merged
from netmend.adapters.torch.subject.listener import Listener
from netmend.mutate.test_sets import FILE, FUNCTION, Rows, TestSet

_HOW = "name it with --test: a DataLoader, a Dataset, X_test,y_test, a .npz file or file.py:function"


class NoData(Exception):
    """Why a test set cannot be had."""


def heard_data(passage: Passage, most: int = MOST_TEST) -> Data | None:
    """What was heard, where labels are known for all of it."""
    calls = [call for call in passage.calls if call.label is not None]
    if not calls or len(calls) < len(passage.calls):
        return None
    batches = [
        Batch(tuple(as_array(each) for each in call.inputs), as_array(call.label))
        for call in calls
        if call.label is not None
    ]
    packed = any(call.packed for call in calls)
    return _cut(Data(merged(batches, packed), calls[0].names, passage.whole, packed), most)


def own_test(listener: Listener, keys: set[bytes]) -> Passage:
    """The evaluation that came last, of other data than that of training."""
    latest = sorted(listener.passes.values(), key=lambda one: one.order, reverse=True)
    seen = unlabelled = False
    for passage in latest:
        rows = [key for call in passage.calls[:8] for key in sample_keys(call.inputs, call.size)]
        if not rows:
            continue
        if sum(key in keys for key in rows) * 2 > len(rows):
            seen = True
        elif any(call.label is None for call in passage.calls):
            unlabelled = True
        else:
            return passage
    if unlabelled:
        raise NoData(f"the labels of the data that the program evaluates were not found; {_HOW}")
    if seen:
        raise NoData(f"the program evaluates nothing but its training data; {_HOW}")
    raise NoData(f"the program evaluates no data that could be seen; {_HOW}")


def found_data(test: TestSet, listener: Listener, names: dict[str, Any], root: Path) -> Data:
    """A set that the user has named."""
    example = listener.example
    if example is None:
        raise NoData("no model was seen that could be tested")
    if test.kind == FILE:
        return _from_file(root / test.path, example)
    if test.kind == FUNCTION:
        made = _called(root / test.path, test.function)
        return _from_object(made, f"{test.path}:{test.function}", example, listener.layout)
    values = [_variable(row, listener, names) for row in test.rows]
    given = values[0] if len(values) == 1 else tuple(values)
    return _from_object(given, ",".join(row.name for row in test.rows), example, listener.layout)


def _variable(row: Rows, listener: Listener, names: dict[str, Any]) -> Any:
    places: tuple[dict[str, Any], ...] = (names, listener.names)
    for place in places:
        if row.name in place:
            value = place[row.name]
            return value if row.start is row.stop is None else value[row.start : row.stop]
    known = sorted(name for place in places for name, value in place.items() if _is_data(value))
    there = f"; data is held by {', '.join(dict.fromkeys(known))}" if known else ""
    raise NoData(f"the program has no variable {row.name!r} at its end or where it calls the model{there}")


def _is_data(value: Any) -> bool:
    rows = isinstance(value, Tensor | np.ndarray) and value.ndim > 0
    return rows or isinstance(value, DataLoader | Dataset)


def _called(path: Path, function: str) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise NoData(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, function):
        raise NoData(f"{path.name} has no function {function}")
    return getattr(module, function)()


def _from_file(path: Path, example: Heard) -> Data:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name.lower(): file[name] for name in file.files}
    label = next((arrays.pop(name) for name in ("y", "label", "labels", "target") if name in arrays), None)
    if label is None or not arrays:
        raise NoData(f"{path.name} must hold arrays x (inputs) and y (labels); it holds {', '.join(arrays)}")
    return _from_object((*arrays.values(), label), path.name, example, Layout())


def _from_object(given: Any, name: str, example: Heard, layout: Layout) -> Data:
    """A loader, a dataset (both with the program's own layout of batches), or inputs and labels."""
    loader: DataLoader[Any]
    if isinstance(given, DataLoader):
        in_order = not isinstance(given.dataset, IterableDataset)
        loader = _in_order(given.dataset, given.collate_fn) if in_order else given
    elif isinstance(given, Dataset):
        stream = isinstance(given, IterableDataset)
        loader = DataLoader(given, batch_size=MOST_ROWS) if stream else _in_order(given)
    elif isinstance(given, tuple | list) and len(given) > 1:
        parts = [
            torch.as_tensor(np.asarray(part) if not isinstance(part, Tensor) else part) for part in given
        ]
        if len({len(part) for part in parts}) != 1:
            sizes = ", ".join(str(len(part)) for part in parts)
            raise NoData(f"{name}: inputs and labels have different numbers of rows ({sizes})")
        loader, layout = _in_order(TensorDataset(*(part.detach() for part in parts))), Layout()
    else:
        kind = type(given).__name__
        raise NoData(
            f"{name} is a {kind}; a DataLoader, a Dataset, or inputs and labels (X_test,y_test) are needed"
        )
    return _gathered(loader, name, example, layout)


def _in_order(dataset: Any, collate: Any = None) -> DataLoader[Any]:
    return DataLoader(dataset, batch_size=MOST_ROWS, shuffle=False, collate_fn=collate)


def _gathered(loader: Iterable[Any], name: str, example: Heard, layout: Layout) -> Data:
    batches: list[Batch] = []
    count, whole = 0, True
    keywords: tuple[str, ...] = ()
    for batch in loader:
        inputs, keywords = _inputs_in(batch, example, layout)
        label = layout.label_in(batch, None if example.packed or not inputs else len(inputs[0]))
        if label is None or not inputs:
            raise NoData(f"{name} yields no labels beside its inputs")
        if count + len(label) > MOST_TEST:
            whole = False
            break
        count += len(label)
        shaped = [_like(each, other) for each, other in zip(inputs, example.inputs, strict=False)]
        batches.append(Batch(tuple(map(as_array, shaped)), as_array(label)))
    if not batches:
        raise NoData(f"{name} holds no inputs")
    names = keywords or ("",) * len(batches[0].inputs)
    return Data(merged(batches, example.packed), names, whole, example.packed)


def _inputs_in(batch: Any, example: Heard, layout: Layout) -> tuple[list[Tensor], tuple[str, ...]]:
    """What the model is given of a batch, and the names it is given by: as in training, else by name, else all but the last part."""
    seen = layout.inputs_in(batch)
    if seen is not None and len(seen) == len(example.inputs):
        return seen, example.names
    if isinstance(batch, dict):
        keywords = tuple(key for key in example.names if key in batch) or tuple(batch)
        return [batch[key] for key in keywords], keywords
    return [part for part in list(batch)[:-1] if isinstance(part, Tensor)][: len(example.inputs)], ()


def _like(given: Tensor, example: Tensor) -> Tensor:
    """In the shape and type that the model was given its inputs in."""
    if given.shape[1:] != example.shape[1:] and given[0].numel() == example[0].numel():
        given = given.reshape(len(given), *example.shape[1:])
    return given.to(example.dtype) if given.dtype != example.dtype else given


def _cut(data: Data, most: int) -> Data:
    """The first samples; of packed batches whole ones, so that it may be a few more."""
    kept: list[Batch] = []
    room = most
    for batch in data.batches:
        if room <= 0:
            break
        first = (
            batch if data.packed else Batch(tuple(each[:room] for each in batch.inputs), batch.label[:room])
        )
        kept.append(first)
        room -= len(batch.label)
    return replace(data, batches=tuple(kept), whole=data.whole and data.inputs <= most)
