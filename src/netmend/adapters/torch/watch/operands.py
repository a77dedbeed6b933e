"""Operands: what a loss function is given, described by behaviour (range, row sums, whole numbers), never by name."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor
from torch.nn._reduction import legacy_get_string

from netmend.adapters.torch.watch.eligible import plain
from netmend.vocabulary import OperandFact

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
