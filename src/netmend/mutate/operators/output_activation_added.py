"""M203."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.function_edits import behind
from netmend.changes.network.heads_in_source import head_of, last_layer
from netmend.diagnose.measures.heads import Head
from netmend.mutate.examples import FUNCTIONS, PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example

# Criterion → activations that do not belong behind the last layer, and what a person would call the fault.
_CLASSES = (
    ("relu", "ACT-OUT-WRONG", 0.6),
    ("sigmoid", "ACT-OUT-WRONG", 0.5),
    ("softmax", "LYR-SOFTMAX-EXTRA", 1.0),
)
_YES_NO = (
    ("relu", "ACT-OUT-WRONG", 0.6),
    ("sigmoid", "LYR-SOFTMAX-EXTRA", 1.0),
    ("softmax", "ACT-OUT-WRONG", 1.0),
)
_AMOUNTS = (("relu", "ACT-OUT-WRONG", 0.6), ("tanh", "ACT-OUT-WRONG", 0.5), ("sigmoid", "ACT-OUT-WRONG", 0.8))
_WRONG = {
    "cross_entropy": _CLASSES,
    "binary_cross_entropy_with_logits": _YES_NO,
    "multilabel_soft_margin_loss": _YES_NO,
    "mse_loss": _AMOUNTS,
    "l1_loss": _AMOUNTS,
    "smooth_l1_loss": _AMOUNTS,
    "huber_loss": _AMOUNTS,
    "expression": _AMOUNTS,
}


@register
@dataclass(frozen=True)
class OutputActivationAdded:
    """Add an activation after an output layer that must stay linear.

    Losses that take scores apply softmax or sigmoid themselves; amounts are not limited to what an activation can give.
    """

    code: ClassVar[str] = "M203"
    causes: ClassVar[tuple[str, ...]] = ("LYR-SOFTMAX-EXTRA", "ACT-OUT-WRONG")
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("AAL",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        layer = last_layer(case, head)
        if head is None or layer is None or head.last != "raw":
            return
        for function, cause, grade in _WRONG.get(head.loss.criterion, ()):
            if function == "softmax" and _is_single(head) and cause == "LYR-SOFTMAX-EXTRA":
                continue
            if _limited(head, function):
                continue
            title = f"{function} after {layer.name}"
            edits = behind(case, layer, function)
            yield from mutation(
                self, title, edits, cause=cause, grade=grade, component=layer.name, parameter=function
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "softmax before cross entropy",
            STACK,
            old="nn.Linear(8, 2),",
            new="nn.Linear(8, 2),\n    nn.Softmax(dim=-1),",
            nth=2,
        ),
        Example("a rectifier on amounts", FUNCTIONS, old="self.out(h)", new="torch.relu(self.out(h))"),
        Example("there is one already", PROBABILITIES),
    )


def _is_single(head: Head) -> bool:
    return head.width == 1


def _limited(head: Head, function: str) -> bool:
    """Whether the targets lie within what the function can give, so that it does no harm."""
    target = head.target
    if (
        target is None
        or target.minimum is None
        or target.maximum is None
        or head.loss.criterion not in _WRONG
    ):
        return False
    if _WRONG[head.loss.criterion] is not _AMOUNTS:
        return False
    low, high = {"relu": (0.0, float("inf")), "tanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0)}[function]
    return low <= target.minimum and target.maximum <= high
