"""One call of a loss function: what it is given, and what is remembered of it, without its graph."""

from __future__ import annotations

import inspect
import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn._reduction import legacy_get_string

from netmend.adapters.torch.watch.eligible import plain
from netmend.library.losses import LOSS
from netmend.vocabulary import OperandFact

# The axis of the classes, from a network's output to the loss: a view reads the same numbers in other rows, it moves no axis.


@dataclass(frozen=True)
class Layout:
    """Where a tensor lies in memory, and how its axes step through it."""

    place: tuple[int, int]  # memory, number of elements
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, tensor: Tensor) -> Layout:
        return cls((tensor.data_ptr(), tensor.numel()), tuple(tensor.shape), tuple(tensor.stride()))


def classes_scrambled(output: Layout, prediction: Tensor) -> bool:
    """Whether the loss reads, as the scores of one sample, numbers that the network gave for different ones.

    Both are the same memory. The output has an axis of that many classes, and along it the numbers lie at another distance than along
    the axis of classes that the loss reads: (N, C, H, W) read in rows of C, or (N, T, C) viewed as (N, C, T).
    """
    if prediction.dim() < 2 or output.place != (prediction.data_ptr(), prediction.numel()):
        return False
    classes, stride = prediction.shape[1], prediction.stride(1)
    if classes < 2 or tuple(prediction.shape) == output.shape:
        return False
    axes = [axis for axis in range(1, len(output.shape)) if output.shape[axis] == classes]
    return bool(axes) and all(output.strides[axis] != stride for axis in axes)


CRITERIA = tuple(LOSS)


@dataclass
class LossCall:
    """One call of a loss function; holds no graph."""

    name: str
    criterion: str
    result: weakref.ref[Tensor]
    prediction: Tensor | None
    target: Tensor | None
    scalar: Tensor  # detached
    # The same loss for another prediction; None where not known.
    compute: Callable[[Tensor], Tensor] | None = None
    output: int = -1  # of the model: the prediction is that, perhaps in another shape; -1: none of them

    def of_outputs(self, outputs: Sequence[Tensor]) -> Tensor | None:
        """The loss that other outputs of the model would have had."""
        if self.compute is None or self.prediction is None or not 0 <= self.output < len(outputs):
            return None
        given = outputs[self.output]
        if given.numel() != self.prediction.numel():
            return None
        return self.compute(given.reshape(self.prediction.shape))

    def again(self, outputs: Sequence[Tensor]) -> float | None:
        with torch.no_grad():
            value = self.of_outputs(outputs)
        return None if value is None else float(value.float().mean())


def flattened(output: tuple[int, ...] | None, prediction: Any) -> bool:
    """Whether the model gave classes for every position of a sequence, and the positions were then laid in a row."""
    if output is None or len(output) < 3 or not isinstance(prediction, Tensor) or prediction.dim() != 2:
        return False
    return output[-1] == prediction.shape[1] and math.prod(output[:-1]) == prediction.shape[0]


def detached(value: Any) -> Tensor | None:
    return value.detach() if isinstance(value, Tensor) and plain(value) else None


def same_for(
    original: Callable[..., Tensor], target: Any, args: Any, kwargs: Any
) -> Callable[[Tensor], Tensor]:
    """The loss as a function of the prediction alone."""
    named = [name for name in ("target", "targets") if name in kwargs]
    settings = {k: v for k, v in kwargs.items() if k not in (*named, "input")}
    rest = args[2:] if not named else ()
    return lambda prediction: original(prediction, target, *rest, **settings)


# Operands: what a loss function is given, described by behaviour (range, row sums, whole numbers), never by name.

_EXAMINED = 1_000_000  # elements; of larger operands the first rows are examined
_DISTINCT_LIMIT = 1000
_LONGEST_PATH = 40
_TOLERANCE = 1e-3  # of sums that are one
_PREDICTION = ("input", "log_probs", "anchor", "input1")
_TARGET = ("target", "targets", "positive", "input2")


def split_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Prediction and target, however they were passed."""
    prediction = args[0] if args else next((kwargs[k] for k in _PREDICTION if k in kwargs), None)
    target = args[1] if len(args) > 1 else next((kwargs[k] for k in _TARGET if k in kwargs), None)
    return prediction, target


def loss_settings(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The remaining arguments: reduction, weights, smoothing."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    found: dict[str, Any] = {}
    old = bound.arguments.get("size_average"), bound.arguments.get("reduce")
    if old != (None, None):  # the old way to say how elements are counted
        bound.arguments["reduction"] = legacy_get_string(*old, emit_warning=False)
    for name, value in bound.arguments.items():
        if name in _PREDICTION or name in _TARGET or value is None:
            continue
        if isinstance(value, bool | int | float | str):
            found[name] = value
        elif isinstance(value, Tensor) and plain(value) and value.numel() <= 1000:
            found[name] = value.item() if value.numel() == 1 else value.detach().flatten().tolist()
    prediction = bound.arguments.get("input")
    if isinstance(prediction, Tensor) and prediction.dim() >= 1:
        found["classes"] = prediction.shape[1] if prediction.dim() > 1 else prediction.shape[0]
    return {k: v for k, v in found.items() if k not in ("size_average", "reduce", "ignore_index")} | (
        {"ignore_index": found["ignore_index"]} if found.get("ignore_index", -100) != -100 else {}
    )


@torch.no_grad()
def operands_of(criterion: str, prediction: Any, target: Any) -> tuple[OperandFact, ...]:
    found = []
    for role, value in (("prediction", prediction), ("target", target)):
        if isinstance(value, Tensor) and plain(value):
            found.append(_describe(role, value, criterion))
    return tuple(found)


def _describe(role: str, tensor: Tensor, criterion: str) -> OperandFact:
    fact = OperandFact(
        role, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), tensor.requires_grad
    )
    if not tensor.numel():
        return fact
    values = tensor.detach()
    if values.numel() > _EXAMINED and values.dim() > 0:
        values = values[: max(1, _EXAMINED * len(values) // values.numel())]
    real = values.float() if values.dtype != torch.float64 else values
    low, high = torch.aminmax(real)
    std = real.std(correction=0)
    integral = bool((real == real.round()).all())
    cut = values.shape != tensor.shape
    distinct = None
    if integral or role == "target":
        distinct = int(torch.unique(real.flatten()[:100_000]).numel())
    return OperandFact(
        role=role,
        shape=fact.shape,
        dtype=fact.dtype,
        requires_grad=fact.requires_grad,
        minimum=float(low),
        maximum=float(high),
        mean=float(real.mean()),
        std=float(std),
        integral=integral,
        rows_sum_to_one=_rows_sum_to_one(real) if role == "prediction" else None,
        distinct=distinct if distinct is not None and distinct <= _DISTINCT_LIMIT else None,
        normalised_axes=_normalised_axes(real, cut),
        log_normalised_axes=_normalised_axes(real.exp(), cut)
        if role == "prediction" and float(high) <= _TOLERANCE
        else (),
        path=autograd_path(tensor),
    )


def _rows_sum_to_one(values: Tensor) -> bool | None:
    if values.dim() < 2 or values.shape[1] < 2:
        return None
    return 1 in _normalised_axes(values, cut=False)


def _normalised_axes(values: Tensor, cut: bool) -> tuple[int, ...]:
    """Axes along which no value is negative and all sums are one; the first axis only if none of its rows were cut off."""
    if not bool((values >= 0).all()):
        return ()
    axes = [axis for axis, size in enumerate(values.shape) if size > 1 and not (cut and axis == 0)]
    return tuple(axis for axis in axes if bool(((values.sum(dim=axis) - 1).abs() < _TOLERANCE).all()))


def autograd_path(tensor: Tensor) -> tuple[str, ...]:
    """Names of the autograd nodes from a tensor downwards, along the first branch that needs gradients."""
    names: list[str] = []
    node = tensor.grad_fn
    while node is not None and len(names) < _LONGEST_PATH:
        names.append(node.name())
        node = next((parent for parent, _ in node.next_functions if parent is not None), None)
    return tuple(names)
