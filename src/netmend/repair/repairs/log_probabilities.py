"""R203."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loss.losses import Criterion, arguments, criterion_of, exchange
from netmend.changes.network.activations import applied_at, without
from netmend.changes.network.heads_in_source import model_calls
from netmend.changes.network.output_uses import once, scores_for_probabilities
from netmend.diagnose.measures.heads import Head, heads
from netmend.library.activations import SHARES
from netmend.library.losses import ON_SCORES
from netmend.program.source.naming import spelled
from netmend.program.source.writing import wrap
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import LossFact, OperandFact
from netmend.vocabulary.change import FREE, Change, FileEdits

_SQUASHING = (*SHARES, "log_softmax", "logsigmoid", "log", "clamp")


_example = partial(
    example,
    model="nn.Linear(2, 3)",
    loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
)


@register
@dataclass(frozen=True)
class LogProbabilities:
    """Use the loss that takes raw scores, where raw scores are given.

    CrossEntropyLoss for NLLLoss, BCEWithLogitsLoss for BCELoss: they apply softmax or sigmoid themselves, in a form that stays
    exact. Thresholds on the output (`> 0.5`) follow.
    """

    code: ClassVar[str] = "R203"
    cures: ClassVar[tuple[str, ...]] = ("LYR-SOFTMAX-MISSING", "ACT-OUT-MISSING", "ACT-OUT-WRONG")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        wanted = (*ON_SCORES, "kl_div")
        head = next((head for head in heads(case.trace) if head.loss.criterion in wanted), None)
        if head is None and case.trace.losses:
            return
        criterion = criterion_of(case, None if head is None else head.loss)
        if criterion is None or criterion.kind not in wanted:
            return
        if criterion.kind == "kl_div":
            edits = self._log_softmax(criterion) if head is not None and head.last not in _SQUASHING else ()
            yield from change(self, case, "log_softmax before the divergence", edits, knob="loss")
            return
        output = self._output(case, head)
        if output is None:
            return
        to = ON_SCORES[criterion.kind]
        loss = exchange(criterion, to)
        if loss and to.endswith("logits"):
            loss = (*loss, *scores_for_probabilities(case.code, model_calls(case)))
        if loss:
            yield from change(
                self, case, f"{to} instead of {criterion.kind}", once((*output, *loss)), knob="loss"
            )

    @staticmethod
    def _output(case: Case, head: Head | None) -> FileEdits | None:
        """The output without what it went through; None when it is not a score and cannot be made one."""
        head = head or _unseen(case)
        if head is None or head.last not in (*_SQUASHING, "relu", "tanh"):
            return ()
        if head.last in ("log_softmax", "log", "sigmoid", "clamp"):
            return None  # as it should be, or cut by what is no function of its own
        applied = applied_at(case, head, head.last)
        return (None if applied is None else without(case, applied)) or None

    @staticmethod
    def _log_softmax(criterion: Criterion) -> FileEdits:
        edits: FileEdits = ()
        for file, call in criterion.calls:
            given = arguments(call)
            if given is not None:
                name, extra = spelled(file, "torch.nn.functional.log_softmax", like=call.func)
                edits = (*edits, *wrap(file, given[0], f"{name}(", ", dim=-1)"), *extra)
        return once(edits)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example("scores into the likelihood loss", criterion="nn.⟨NLLLoss → CrossEntropyLoss⟩()"),
        _example(
            "a function that is looked up by its name",
            data='LOSS = "⟨nll_loss → cross_entropy⟩"',
            helpers="loss_of = getattr(F, LOSS)",
            loss="loss_of(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
            mark="loss = ",
        ),
        example(
            "a function, in all its places",
            """
                import torch
                from torch.nn import Linear
                from torch.nn.functional import ⟨nll_loss → nll_loss, cross_entropy⟩
                model = Linear(2, 3)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for step in range(3):
                    optimizer.zero_grad()
                    loss = ⟨nll_loss → cross_entropy⟩(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
                    loss.backward()
                    optimizer.step()""",
            mark="loss = nll_loss",
        ),
        _example(
            "scores that the loss for probabilities refuses; the threshold follows",
            model="nn.Linear(2, 1)",
            helpers="""
                def hits(x, y):
                    return (model(x) > ⟨0.5 → 0⟩) == y
                criterion = nn.⟨BCELoss → BCEWithLogitsLoss⟩()""",
            loss="criterion(model(3 * torch.randn(99, 2)), torch.ones(99, 1))",
            mark="nn.BCELoss",
            cause="ACT-OUT-MISSING",
            raises=True,
        ),
        _example(
            "log-probabilities are right for it",
            model="nn.Sequential(nn.Linear(2, 3), nn.LogSoftmax(dim=1))",
            criterion="⟨nn.NLLLoss()⟩",
        ),
    )


def _unseen(case: Case) -> Head | None:
    """The head of a program that its loss stopped: by the model's last layer."""
    last = next((layer for layer in reversed(case.trace.layers()) if layer.order is not None), None)
    if last is None or last.activation is None or case.model is None or not case.model.output_shapes:
        return None
    given = OperandFact("prediction", case.model.output_shapes[0])
    return Head(LossFact(""), given, None, (last.activation,))
