"""Attention in the graph of an objective: softmaxes over scores of pairs, whatever module or function computed them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from netmend.vocabulary import FunctionFact

PAIR_SCORES = "pair scores"
_MOST_NODES = 3000
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
    while waiting and len(used_by) < _MOST_NODES:
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
