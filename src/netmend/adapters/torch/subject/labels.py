"""Which of a program's variables holds the labels of given inputs."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor

_OF_LABELS = ("y", "t", "label", "labels", "target", "targets", "truth", "classes")  # beginnings of names
_OF_INPUTS = ("x", "inputs", "input", "images", "image", "data", "features")
_MOST_COLUMNS = 64  # of targets


def label_beside(inputs: Tensor, frame: FrameType) -> Tensor | None:
    """A variable of the calling function with a label for each input: `y_test` for `x_test`, `y[800:]` for `x[800:]`."""
    found = _beside(inputs, inputs, frame)
    base = inputs._base
    if found is None and base is not None and base.shape[1:] == inputs.shape[1:] and base.stride(0):
        start = (inputs.storage_offset() - base.storage_offset()) // base.stride(0)
        whole = _beside(base, inputs, frame)
        found = None if whole is None else whole[start : start + len(inputs)]
    return torch.as_tensor(found).detach() if found is not None and len(found) == len(inputs) else None


def _beside(whole: Tensor, inputs: Tensor, frame: FrameType) -> Any:
    """Labels for all rows of a tensor."""
    own = ""
    found: list[tuple[str, Any]] = []
    for name, value in _variables(frame):
        if not isinstance(value, Tensor | np.ndarray) or value.ndim == 0 or len(value) != len(whole):
            continue
        if isinstance(value, Tensor) and value.data_ptr() == whole.data_ptr():
            own = name
        elif _may_be_label(value, inputs):
            found.append((name, value))
    return _chosen(own, found)


def _may_be_label(value: Any, inputs: Tensor) -> bool:
    if tuple(value.shape[1:]) == tuple(inputs.shape[1:]) and inputs.dim() > 1:
        return False  # inputs of another kind
    return bool(value.ndim == 1 or (value.ndim == 2 and value.shape[1] <= _MOST_COLUMNS))


def _chosen(own: str, found: list[tuple[str, Any]]) -> Any:
    """By name where several would do; nothing where that does not tell."""
    wanted = {beginning + _ending(own, _OF_INPUTS) for beginning in _OF_LABELS} if own else set()
    by_pair = [value for name, value in found if name.lower() in wanted]
    if len(by_pair) == 1:
        return by_pair[0]
    named = [value for name, value in found if _ending(name, _OF_LABELS) != name.lower()]
    for some in (named, [value for _, value in found]):
        if len(some) == 1:
            return some[0]
    return None


def _ending(name: str, beginnings: tuple[str, ...]) -> str:
    """`_test` of `x_test`; the whole name where it does not begin so."""
    lower = name.lower()
    for beginning in sorted(beginnings, key=len, reverse=True):
        if lower == beginning or lower.startswith((f"{beginning}_", f"{beginning}t")):
            return lower[len(beginning) :]
    return lower


def _variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Those that the function mentions."""
    code = frame.f_code
    for name in dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names)):
        for place in (frame.f_locals, frame.f_globals):
            if name in place:
                yield name, place[name]
                break
