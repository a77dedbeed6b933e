"""M204."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loss.losses import Criterion, criterion_of, exchange
from netmend.changes.network.activations import applied_at, without
from netmend.changes.network.heads_in_source import head_of
from netmend.diagnose.measures.heads import Head
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example

_NEEDED = {
    "log_softmax": "LYR-SOFTMAX-MISSING",
    "softmax": "LYR-SOFTMAX-MISSING",
    "sigmoid": "ACT-OUT-MISSING",
    "softplus": "ACT-OUT-MISSING",
    "exp": "ACT-OUT-MISSING",
}
# Losses that turn scores into probabilities themselves, and those that do not.
_WITHOUT = {
    "cross_entropy": ("nll_loss", "LYR-SOFTMAX-MISSING"),
    "binary_cross_entropy_with_logits": ("binary_cross_entropy", "ACT-OUT-MISSING"),
}


@register
@dataclass(frozen=True)
class OutputActivationRemoved:
    """Remove the activation that turns scores into what the loss expects.

    A loss of probabilities or log-probabilities that is given raw scores is meaningless: it is unbounded, or it raises.
    """

    code: ClassVar[str] = "M204"
    causes: ClassVar[tuple[str, ...]] = ("LYR-SOFTMAX-MISSING", "ACT-OUT-MISSING")
    crashes: ClassVar[bool] = True
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("ARM",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        if head is not None and head.last == "raw" and head.loss.criterion in _WITHOUT:
            yield from self._other_loss(case, head)
        if head is None or head.last not in _NEEDED:
            return
        applied = applied_at(case, head, head.last)
        if applied is not None:
            yield from mutation(
                self,
                f"no {head.last} at the output",
                without(case, applied),
                cause=_NEEDED[head.last],
                parameter=head.last,
            )

    def _other_loss(self, case: Case, head: Head) -> Iterator[Mutation]:
        """A loss of probabilities in the place of one that makes them itself, and nothing else changed."""
        new, cause = _WITHOUT[head.loss.criterion]
        found = criterion_of(case, head.loss)
        if found is not None:
            criterion = found if found.created is not None else Criterion(found.kind, None, found.calls[:1])
            title = f"{new} of raw scores"
            yield from mutation(self, title, exchange(criterion, new), cause=cause, parameter=new)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a layer", PROBABILITIES, old=", nn.Sigmoid())", new=")"),
        Example(
            "a function", LOG_PROBABILITIES, old="F.log_softmax(self.last(h), dim=1)", new="self.last(h)"
        ),
        Example("a loss that needs one", STACK, old="nn.CrossEntropyLoss()", new="nn.NLLLoss()"),
        Example("amounts", FUNCTIONS),
    )
