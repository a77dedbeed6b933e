"""Heads: what each minimised loss is really given, and which function the model's output went through last.

Judged by values (ranges, sums along axes) and by the autograd nodes that made them; names of variables, classes or layers play no part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from netmend.diagnose.measures.chain import chain
from netmend.library.activations import ACTIVATIONS
from netmend.library.losses import DISTANCES
from netmend.vocabulary import LossFact, ModuleFact, OperandFact, Trace

REAL = (*DISTANCES, "gaussian_nll_loss")
CLASS_SCORES = ("cross_entropy",)  # normalises what it is given over the classes
YES_NO_SCORES = ("binary_cross_entropy_with_logits", "multilabel_soft_margin_loss")  # applies a sigmoid

# Nodes that move values about without changing them.
_SHAPE = frozenset(
    [
        "View",
        "UnsafeView",
        "Reshape",
        "ReshapeAlias",
        "Squeeze",
        "Unsqueeze",
        "Transpose",
        "T",
        "Permute",
        "Select",
        "Slice",
        "Index",
        "IndexSelect",
        "Gather",
        "Split",
        "SplitWithSizes",
        "Unbind",
        "Narrow",
        "Clone",
        "ToCopy",
        "Expand",
        "Alias",
        "AsStrided",
        "MaskedSelect",
        "Movedim",
        "Unflatten",
        "Flatten",
        "Contiguous",
    ]
)
_ACTIVATIONS = {
    "Sigmoid": "sigmoid",
    "Hardsigmoid": "hardsigmoid",
    "Tanh": "tanh",
    "Relu": "relu",
    "Softplus": "softplus",
    "Exp": "exp",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "LogSigmoid": "logsigmoid",
    "Elu": "elu",
    "Hardtanh": "hardtanh",
    "Clamp": "clamp",
    "ClampMin": "clamp",
    "ClampMax": "clamp",
    "Threshold": "threshold",
    "Log": "log",
}
_RAW = frozenset(
    [
        "Addmm",
        "Mm",
        "Bmm",
        "Mv",
        "Addmv",
        "Addbmm",
        "Baddbmm",
        "Convolution",
        "Linear",
        "MkldnnLinear",
        "Embedding",
    ]
)
_IMAGES = {each.name: (each.low, each.high) for each in ACTIVATIONS if each.bounded} | {
    "exp": (0.0, math.inf)
}


@dataclass(frozen=True)
class Head:
    """One minimised loss with its operands; `made_by` holds the functions of the output, the last one first."""

    loss: LossFact
    given: OperandFact
    target: OperandFact | None
    made_by: tuple[str, ...]  # "sigmoid", "log", "raw" for a linear map, "" for anything else

    @property
    def last(self) -> str:
        return self.made_by[0] if self.made_by else ""

    @property
    def activation(self) -> str:
        """The last function but for clamps: outputs are often kept off 0 and 1 by one before a logarithm."""
        return next((name for name in self.made_by if name != "clamp"), "")

    @property
    def class_axis(self) -> int:
        return 1 if len(self.given.shape) > 1 else 0

    @property
    def width(self) -> int | None:
        """Number of classes or output units."""
        return self.given.shape[self.class_axis] if self.given.shape else None

    @property
    def rows(self) -> int:
        """Number of predictions, each over all classes."""
        return math.prod(self.given.shape) // max(1, self.width or 1)

    @property
    def image(self) -> tuple[float, float] | None:
        """The values that the last function can give."""
        return _IMAGES.get(self.last)


@lru_cache(maxsize=16)
def heads(trace: Trace) -> tuple[Head, ...]:
    """The losses that are minimised, alone or as terms of an objective, and whose operands were seen."""
    found = (head for loss in minimised(trace) if (head := _head(loss)) is not None)
    return tuple(replace(head, made_by=("softsign",)) if _softsign(trace, head) else head for head in found)


def _softsign(trace: Trace, head: Head) -> bool:
    """x / (1 + |x|) is a division like any other in the graph: the model's last operation tells, and the range agrees."""
    nodes = [name for node in head.given.path if (name := node_name(node)) not in _SHAPE]
    if nodes[:1] != ["Div"] or head.given.minimum is None or head.given.maximum is None:
        return False
    ends = {link.model: link for link in chain(trace)}
    inside = head.given.minimum > -1.0 and head.given.maximum < 1.0
    return inside and any(link.function == "softsign" for link in ends.values())


def minimised(trace: Trace) -> Iterator[LossFact]:
    """Losses whose gradient is taken; a loss computed only to be looked at is not among them."""
    terms = {term for loss in trace.losses for term in loss.settings.get("terms", ())}
    for loss in trace.losses:
        if loss.backward is not None or loss.name in terms:
            yield loss


def _head(loss: LossFact) -> Head | None:
    given = next((operand for operand in loss.operands if operand.role == "prediction"), None)
    target = next((operand for operand in loss.operands if operand.role == "target"), None)
    if given is None:
        return None
    if not given.requires_grad and target is not None and target.requires_grad:
        if loss.criterion not in DISTANCES:
            return None
        given, target = target, given  # the order of the two does not matter to these
    return Head(loss, given, target, functions(given.path)) if given.requires_grad else None


def functions(path: tuple[str, ...]) -> tuple[str, ...]:
    """The first functions of an autograd path that change values, up to the first linear map."""
    found: list[str] = []
    for node in path:
        name = node_name(node)
        if name in _SHAPE:
            continue
        found.append(_ACTIVATIONS.get(name, "raw" if name in _RAW else ""))
        if found[-1] in ("raw", ""):
            break
    return tuple(found)


def node_name(node: str) -> str:
    """`SigmoidBackward0` → "Sigmoid"."""
    return re.sub(r"Backward\d*$", "", node.rpartition(":")[2])


def limits(trace: Trace, head: Head) -> tuple[float, float] | None:
    """The range of the head's last function, where it is known; of hardtanh and ReLU6 it is a setting."""
    if head.last != "hardtanh":
        return head.image
    modules = [module for module in trace.all(ModuleFact) if module.activation in ("hardtanh", "relu6")]
    if not modules:
        return None
    settings = max(modules, key=lambda module: -1 if module.order is None else module.order).settings
    low, high = settings.get("min_val"), settings.get("max_val")
    if isinstance(low, int | float) and isinstance(high, int | float):
        return float(low), float(high)
    return None
