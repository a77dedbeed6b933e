"""M301."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loss.losses import Criterion, arguments, criterion_of, exchange
from netmend.changes.network.heads_in_source import head_of
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits

# Criterion → others that take the same two arguments; of class ids a row of zeros and a one is made.
_OF_CLASSES = ("binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "hinge_embedding_loss")
_OTHERS = {
    "cross_entropy": _OF_CLASSES,
    "nll_loss": ("mse_loss", "l1_loss"),
    "binary_cross_entropy_with_logits": ("mse_loss", "l1_loss", "hinge_embedding_loss"),
    "binary_cross_entropy": ("l1_loss", "hinge_embedding_loss"),
    "mse_loss": ("binary_cross_entropy_with_logits", "poisson_nll_loss", "hinge_embedding_loss"),
    "smooth_l1_loss": ("binary_cross_entropy_with_logits", "hinge_embedding_loss"),
    "huber_loss": ("binary_cross_entropy_with_logits", "hinge_embedding_loss"),
    "l1_loss": ("binary_cross_entropy_with_logits", "hinge_embedding_loss"),
}
_IDS = ("cross_entropy", "nll_loss")


@register
@dataclass(frozen=True)
class LossExchanged:
    """Train with a loss that does not fit the task.

    Classes are regressed, amounts are treated as yes-or-no questions, or the loss asks for something else altogether.
    """

    code: ClassVar[str] = "M301"
    causes: ClassVar[tuple[str, ...]] = ("LOS-SELECT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("LCH",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        if head is None or head.loss.criterion not in _OTHERS:
            return
        found = criterion_of(case, head.loss)
        if found is None or not found.calls:
            return
        criterion = found if found.created is not None else Criterion(found.kind, None, found.calls[:1])
        target, width = head.target, head.width
        ids = head.loss.criterion in _IDS
        if ids and (
            target is None or not target.integral or len(head.given.shape) != 2 or len(target.shape) != 1
        ):
            return
        if not ids and target is not None and not target.dtype.startswith("float"):
            return
        others = _OTHERS[head.loss.criterion]
        for index, new in enumerate(others, 1):
            edits = exchange(criterion, new)
            more = _rows(criterion, width) if ids else ()
            if edits and (more or not ids):
                title = f"{head.loss.criterion} → {new}"
                yield from mutation(
                    self,
                    title,
                    (*edits, *more),
                    grade=index / len(others),
                    component=head.loss.name,
                    parameter=new,
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("another one of probabilities", PROBABILITIES, old="nn.BCELoss()", new="nn.L1Loss()"),
        Example(
            "classes as amounts",
            STACK,
            old=STACK[STACK.index("nn.CrossEntropyLoss") : STACK.index("        loss.backward()")],
            new=STACK[STACK.index("nn.CrossEntropyLoss") : STACK.index("        loss.backward()")]
            .replace("nn.CrossEntropyLoss()", "nn.MSELoss()")
            .replace("yb)\n", "nn.functional.one_hot(yb, 2).float())\n"),
            nth=1,
        ),
    )


def _rows(criterion: Criterion, width: int | None) -> FileEdits:
    """Class ids as rows of zeros with a one, wherever the criterion is called."""
    edits: FileEdits = ()
    for file, call in criterion.calls:
        given = arguments(call)
        if given is None or width is None:
            return ()
        name, extra = spelled(file, "torch.nn.functional.one_hot")
        own = replace(file, given[1], f"{name}({file.source(given[1])}, {width}).float()")
        if not own:
            return ()
        edits = (*edits, *own, *extra)
    return edits
