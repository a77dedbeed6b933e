"""What an objective is: criteria recognised by what they compute, and what happens between a model's output and the objective."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from netmend.adapters.torch.watch.eligible import plain
from netmend.adapters.torch.watch.kinds import ACTIVATION_FUNCTIONS
from netmend.vocabulary import FunctionFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.functions import TailCall


_TOLERANCE = 1e-5
_LARGEST = 4_000_000
Found = tuple[str, Tensor, Tensor, dict[str, Any]]
Criterion = Callable[[Tensor, Tensor, str], Tensor | None]


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


def _matters(compute: Criterion, prediction: Tensor, target: Tensor, reduction: str, given: float) -> bool:
    """Whether the value depends on this target: beside large predictions any small number seems to fit."""
    if not target.is_floating_point():
        return True
    without = _given(compute, prediction.detach(), torch.zeros_like(target), reduction)
    return without is None or not math.isclose(given, without, rel_tol=10 * _TOLERANCE)


def _given(compute: Criterion, prediction: Tensor, target: Tensor, reduction: str) -> float | None:
    try:
        result = compute(prediction, target, reduction)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return None  # shapes or types that this criterion does not take
    return None if result is None else float(result)


def _distinct(tensors: list[Tensor]) -> list[Tensor]:
    return list({id(t): t for t in tensors}.values())


def _distance(of: Callable[[Tensor], Tensor]) -> Criterion:
    def compute(prediction: Tensor, target: Tensor, reduction: str) -> Tensor | None:
        if not target.is_floating_point() and prediction.shape != target.shape:
            return None
        difference = of(prediction - target)  # broadcasting as the user's own expression does
        return difference.mean() if reduction == "mean" else difference.sum()

    return compute


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


_CANDIDATES: dict[str, Criterion] = {
    "mse_loss": _distance(torch.square),
    "l1_loss": _distance(torch.abs),
    "cross_entropy": _classes,
    "nll_loss": _log_likelihood,
    "binary_cross_entropy": _binary,
    "binary_cross_entropy_with_logits": _binary_logits,
}


_MOST_NODES = 64
_COMBINING = ("SubBackward0", "RsubBackward1", "AddBackward0", "MulBackward0", "DivBackward0")
_LAYERS = (
    "AddmmBackward0",
    "MmBackward0",
    "BmmBackward0",
    "ConvolutionBackward0",
)  # where a model's output ends


def path_facts(tail: list[TailCall]) -> Iterator[FunctionFact]:
    """Facts about the calls that made an objective from the model's output, in their order."""
    for order, call in enumerate(tail):
        if call.site is None or not call.tensors:
            continue
        activation = ACTIVATION_FUNCTIONS.get(call.function)
        if activation is not None:
            yield FunctionFact(
                f"{activation}@{call.site.short}",
                activation,
                "loss path",
                order=order,
                output_shape=tuple(call.tensors[0].shape),
                site=call.site,
            )
        elif len(call.tensors) == 2:
            grown = _grown(*call.tensors)
            if grown is not None:
                first, second = call.tensors
                yield FunctionFact(
                    f"{call.function.strip('_')}@{call.site.short}",
                    call.function.strip("_"),
                    "loss path",
                    settings={
                        "first": list(first.shape),
                        "second": list(second.shape),
                        "first_needs_gradient": first.requires_grad,
                        "second_needs_gradient": second.requires_grad,
                    },
                    order=order,
                    output_shape=grown,
                    site=call.site,
                )


def _grown(first: Tensor, second: Tensor) -> tuple[int, ...] | None:
    """The shape of what two tensors make together, if that is larger than each of them."""
    if first.shape == second.shape or not (plain(first) and plain(second)):
        return None
    try:
        together = torch.broadcast_shapes(first.shape, second.shape)
    except RuntimeError:
        return None  # no operation element by element
    return tuple(together) if math.prod(together) > max(first.numel(), second.numel()) else None


def grown_in_graph(objective: Tensor, site: Site | None) -> FunctionFact | None:
    """The same read from the autograd graph, where calls could not be watched: [N, 1] or [N] that became [N, N].

    Only tensors that need gradients are known there; the other one is inferred. None when nothing grew so.
    """
    waiting: list[Any] = [objective.grad_fn]
    seen: set[Any] = set()
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop(0)
        if node is None or node in seen or node.name() in _LAYERS:
            continue
        seen.add(node)
        parents = [(parent, number) for parent, number in node.next_functions if parent is not None]
        waiting.extend(parent for parent, _ in parents)
        if node.name() not in _COMBINING or len(parents) != 1:
            continue
        together, first = _shape_of(node, 0), _shape_of(*parents[0])
        size = math.prod(first) if first is not None else 0
        if first is not None and size > 2 and together == (size, size) and first in ((size, 1), (size,)):
            name = node.name().partition("Backward")[0].lower()
            return FunctionFact(
                f"{name}@{site.short}" if site is not None else name,
                name,
                "loss path",
                settings={
                    "first": list(first),
                    "second": [size] if len(first) == 2 else [size, 1],
                    "first_needs_gradient": True,
                    "second_needs_gradient": False,
                },
                output_shape=together,
                site=site,
            )
    return None


def _shape_of(node: Any, number: int) -> tuple[int, ...] | None:
    """The shape of what a node of the graph gave in the forward pass."""
    known = getattr(node, "_input_metadata", ())
    return tuple(known[number].shape) if number < len(known) else None


# Attention in the graph of an objective: softmaxes over scores of pairs, whatever module or function computed them.

PAIR_SCORES = "pair scores"
_MOST_SCORE_NODES = 3000
_MOST_STEPS = 12  # from a softmax to the products before and behind it
_PRODUCT = "BmmBackward0"
_ELEMENTS = ("DivBackward0", "MulBackward0", "AddBackward0", "SubBackward0", "MaskedFillBackward0", "WhereBackward0", "ToCopyBackward0")  # fmt: skip
_LAYOUT = (
    "ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "ExpandBackward0", "CloneBackward0", "SqueezeBackward0",
    "SqueezeBackward1", "UnsqueezeBackward0", "PermuteBackward0", "TransposeBackward0", "TBackward0", "NativeDropoutBackward0",
)  # fmt: skip


def pair_scores(objective: Tensor) -> Iterator[FunctionFact]:
    """Softmaxes between two batched products whose axis is one that the products keep apart; each shape and axis once."""
    used_by: dict[Any, Any] = {}
    waiting: deque[Any] = deque([objective.grad_fn])
    told: set[tuple[int, tuple[int, ...]]] = set()
    while waiting and len(used_by) < _MOST_SCORE_NODES:
        node = waiting.popleft()
        for before, _ in getattr(node, "next_functions", ()):
            if before is not None and before not in used_by:
                used_by[before] = node
                waiting.append(before)
        if node is None or node.name() != "SoftmaxBackward0":
            continue
        shape = _shape(node)
        axis = node._saved_dim if node._saved_dim < len(shape) else node._saved_dim - 2**64 + len(shape)
        if axis >= len(shape) - 2 or not _weighs(node, used_by) or not _of_product(node, shape):
            continue
        if (axis, shape) not in told:
            told.add((axis, shape))
            name = f"softmax over axis {axis} of {'x'.join(map(str, shape))}"
            yield FunctionFact(name, "softmax", PAIR_SCORES, settings={"axis": axis}, output_shape=shape)


def _shape(node: Any) -> tuple[int, ...]:
    """The shape of what a node gave in the forward pass."""
    known = getattr(node, "_input_metadata", ())
    return tuple(known[0].shape) if known else ()


def _of_product(softmax: Any, shape: tuple[int, ...]) -> bool:
    """Whether the scores come from a batched product whose first axes they have kept."""
    node = softmax
    for _ in range(_MOST_STEPS):
        before = [parent for parent, _ in node.next_functions if parent is not None]
        node = before[0] if before else None
        if node is None:
            return False
        if node.name() == _PRODUCT:
            kept = shape[0] if len(shape) == 3 else shape[0] * shape[1]
            return _shape(node)[:1] == (kept,)
        if node.name() not in (*_ELEMENTS, *_LAYOUT):
            return False
    return False


def _weighs(softmax: Any, used_by: dict[Any, Any]) -> bool:
    """Whether its result goes into another batched product: weights of values."""
    node = softmax
    for _ in range(_MOST_STEPS):
        node = used_by.get(node)
        if node is None:
            return False
        if node.name() == _PRODUCT:
            return True
        if node.name() not in (*_ELEMENTS, *_LAYOUT):
            return False
    return False
