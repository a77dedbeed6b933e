"""Heads: what each minimised loss is really given, and which function the model's output went through last.

Judged by values (ranges, sums along axes) and by the autograd nodes that made them; names of variables, classes or layers play no part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from netmend.diagnose.measures.chain import chain
from netmend.library.activations import ACTIVATIONS
from netmend.library.losses import DISTANCES
from netmend.vocabulary import FunctionFact, LossFact, ModuleFact, OperandFact, Site, Trace


def broadcast(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...] | None:
    """The shape that two tensors have together, element by element; None when they do not fit."""
    width = max(len(first), len(second))
    left = (1,) * (width - len(first)) + tuple(first)
    right = (1,) * (width - len(second)) + tuple(second)
    if any(a != b and 1 not in (a, b) for a, b in zip(left, right, strict=True)):
        return None
    return tuple(max(a, b) if 0 not in (a, b) else 0 for a, b in zip(left, right, strict=True))


def same_values(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether two shapes hold the same values and differ only in axes of length one."""
    return [size for size in first if size != 1] == [size for size in second if size != 1]


def stretched(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...] | None:
    """What [N, 1] and [N] become, [N, N]: two shapes of the same values that together hold many more. Else None."""
    together = broadcast(first, second)
    if together is None or not same_values(first, second):
        return None
    return together if math.prod(together) > math.prod(first) > 1 else None


def written(shape: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


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


def targets(trace: Trace) -> list[OperandFact]:
    """What the minimised losses are given as targets."""
    return [loss.target for loss in minimised(trace) if loss.target is not None]


def _head(loss: LossFact) -> Head | None:
    given, target = loss.prediction, loss.target
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


@dataclass(frozen=True)
class Place:
    """The function's line; `module` is its module's name, "" for a functional call."""

    component: str
    site: Site | None
    related: tuple[Site, ...] = ()
    module: str = ""
    calls: int = 1  # how often the module is called in one forward pass
    called: Site | None = None


def place_of(trace: Trace, head: Head, function: str) -> Place | None:
    """The last such function on the way to the loss; None when no line of the user's is known for it."""
    between = [
        fact
        for fact in trace.all(FunctionFact)
        if fact.kind == "loss path" and fact.function == function and fact.site is not None
    ]
    if between:
        fact = max(between, key=lambda fact: fact.order or 0)
        return Place(fact.name, fact.site)
    size = math.prod(head.given.shape)
    found: list[tuple[tuple[bool, int, int], Place]] = []
    for call in trace.all(FunctionFact):
        if call.kind == "activation" and call.function == function and call.site is not None:
            fits = math.prod(call.output_shape) == size
            found.append(((fits, call.order or 0, 0), Place(call.name, call.site)))
    for module in trace.all(ModuleFact):
        if module.activation == function and module.order is not None:
            place = module.created or module.called
            fits = module.calls > 1 or any(math.prod(shape) == size for shape in module.output_shapes)
            related = tuple(site for site in (module.called,) if site is not None and site != place)
            found.append(
                (
                    (fits, module.order, 1),
                    Place(module.name, place, related, module.name, module.calls, module.called),
                )
            )
    if not found:
        # In a compiled model no order of layers is seen: a single layer of that kind must be it.
        alone = [module for module in trace.all(ModuleFact) if module.activation == function]
        place = alone[0].created if len(alone) == 1 else None
        return Place(alone[0].name, place, module=alone[0].name) if place is not None else None
    fitting = [entry for entry in found if entry[0][0]] or found
    return max(fitting, key=lambda entry: entry[0])[1]


def seen_at(place: Place | None, head: Head) -> tuple[str, Site | None]:
    """The function's name and line, those of the loss where they are not known."""
    if place is None:
        return head.loss.name, head.loss.called
    return place.component, place.site or head.loss.called
