"""Expressions: hand-written objectives, recognised by what they compute rather than by how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from netmend.adapters.torch.watch.eligible import plain

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.functions import TailCall

_TOLERANCE = 1e-5
_LARGEST = 4_000_000
Found = tuple[str, Tensor, Tensor, dict[str, Any]]


@torch.no_grad()
def recognise(tail: list[TailCall], output: Tensor, value: float) -> Found | None:
    """The criterion that gives exactly this value for the model's output (or what was made of it) and some target.

    A criterion that gives exactly the negative of the value is found too: {"negated": True} tells of it.
    """
    predictions = [output] + [t for call in tail for t in call.tensors if t.requires_grad and plain(t)]
    targets = [t for call in tail for t in call.tensors if not t.requires_grad and plain(t)]
    for prediction in _distinct(predictions)[:6]:
        for target in _distinct(targets)[:6]:
            if prediction.numel() > _LARGEST or target.numel() > _LARGEST:
                continue
            for criterion, compute in _CANDIDATES.items():
                for reduction in ("mean", "sum"):
                    given = _given(compute, prediction.detach(), target.detach(), reduction)
                    if given is None:
                        continue
                    same = math.isclose(given, value, rel_tol=_TOLERANCE, abs_tol=1e-12)
                    negated = not same and bool(given) and math.isclose(given, -value, rel_tol=_TOLERANCE)
                    if (same or negated) and _matters(compute, prediction, target, reduction, given):
                        more = {"negated": True} if negated else {}
                        return criterion, prediction, target, {"reduction": reduction, **more}
    return None


def _matters(
    compute: Callable[..., Tensor | None], prediction: Tensor, target: Tensor, reduction: str, given: float
) -> bool:
    """Whether the value depends on this target: beside large predictions any small number seems to fit."""
    if not target.is_floating_point():
        return True
    without = _given(compute, prediction.detach(), torch.zeros_like(target), reduction)
    return without is None or not math.isclose(given, without, rel_tol=10 * _TOLERANCE)


def _given(
    compute: Callable[..., Tensor | None], prediction: Tensor, target: Tensor, reduction: str
) -> float | None:
    try:
        result = compute(prediction, target, reduction)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return None  # shapes or types that this criterion does not take
    return None if result is None else float(result)


def _distinct(tensors: list[Tensor]) -> list[Tensor]:
    return list({id(t): t for t in tensors}.values())


def _squared(prediction: Tensor, target: Tensor, reduction: str) -> Tensor | None:
    if not target.is_floating_point() and prediction.shape != target.shape:
        return None
    difference = (prediction - target).square()  # broadcasting as the user's own expression does
    return difference.mean() if reduction == "mean" else difference.sum()


def _absolute(prediction: Tensor, target: Tensor, reduction: str) -> Tensor | None:
    if not target.is_floating_point() and prediction.shape != target.shape:
        return None
    difference = (prediction - target).abs()
    return difference.mean() if reduction == "mean" else difference.sum()


def _classes(prediction: Tensor, target: Tensor, reduction: str) -> Tensor | None:
    if prediction.dim() < 2 or (target.is_floating_point() and target.shape != prediction.shape):
        return None
    if target.dim() == prediction.dim() and target.shape[-1] == 1 < prediction.shape[-1]:
        target = target.squeeze(-1)
    elif target.shape == prediction.shape:  # one-hot, often of whole numbers
        target = target.to(prediction.dtype)
    return functional.cross_entropy(prediction, target, reduction=reduction)


def _log_likelihood(prediction: Tensor, target: Tensor, reduction: str) -> Tensor | None:
    if prediction.dim() < 2 or target.is_floating_point():
        return None
    return functional.nll_loss(prediction, target, reduction=reduction)


def _binary(prediction: Tensor, target: Tensor, reduction: str) -> Tensor | None:
    if prediction.shape != target.shape or float(prediction.min()) < 0 or float(prediction.max()) > 1:
        return None
    return functional.binary_cross_entropy(prediction, target.float(), reduction=reduction)


def _binary_logits(prediction: Tensor, target: Tensor, reduction: str) -> Tensor | None:
    if prediction.shape != target.shape:
        return None
    return functional.binary_cross_entropy_with_logits(prediction, target.float(), reduction=reduction)


_CANDIDATES: dict[str, Callable[[Tensor, Tensor, str], Tensor | None]] = {
    "mse_loss": _squared,
    "l1_loss": _absolute,
    "cross_entropy": _classes,
    "nll_loss": _log_likelihood,
    "binary_cross_entropy": _binary,
    "binary_cross_entropy_with_logits": _binary_logits,
}
