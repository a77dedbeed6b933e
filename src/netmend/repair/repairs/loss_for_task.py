"""R202."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loss.losses import Criterion, arguments, as_classes, as_yes_no, criterion_of, exchange
from netmend.changes.network.activations import applied_at, without
from netmend.changes.network.heads_in_source import head_of, model_calls
from netmend.changes.network.output_layer import axes_kept, class_of_value, classes_of, set_width
from netmend.changes.network.output_uses import beside, once, scores_for_probabilities
from netmend.diagnose.measures.heads import REAL, YES_NO_SCORES, Head
from netmend.library.activations import SHARES
from netmend.program.source.writing import wrap
from netmend.program.text.file import File
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import OperandFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_YES_NO = ("binary_cross_entropy", *YES_NO_SCORES)
_PLUS_MINUS = ("soft_margin_loss", "hinge_embedding_loss")
_SQUASHING = (*SHARES, "log_softmax", "relu", "tanh")


@register
@dataclass(frozen=True)
class LossForTask:
    """Use the loss that fits the targets, together with the output and the form of the targets that it needs.

    Class ids: cross entropy on one raw score per class. Yes/no answers: binary cross entropy on raw scores. Real values: squared
    error. Output width, output activation, target type and what reads the output change in one go.
    """

    code: ClassVar[str] = "R202"
    cures: ClassVar[tuple[str, ...]] = ("LOS-SELECT", "ACT-OUT-WRONG")
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    most_classes: int = 1000  # more whole values than this are quantities

    def propose(self, case: Case) -> Iterator[Change]:
        head = head_of(case)
        criterion = None if head is None else criterion_of(case, head.loss)
        if head is None or criterion is None or head.target is None:
            return
        kind, target = head.loss.criterion, head.target
        same = target.shape == head.given.shape
        wide = len(head.given.shape) > 1 and (head.width or 0) > 1
        one_hot = same and wide and bool(target.integral) and head.class_axis in target.normalised_axes
        if one_hot and kind in (*_YES_NO, *REAL):
            yield from self._exchange(case, head, criterion, "cross_entropy")
        elif same and wide and kind == "cross_entropy" and target.integral and target.maximum == 1:
            yield from self._exchange(case, head, criterion, "binary_cross_entropy_with_logits")
        elif kind == "cross_entropy" and len(head.given.shape) == 1 and same:
            to = "binary_cross_entropy_with_logits" if _is_yes_no(target) else "mse_loss"
            yield from self._exchange(case, head, criterion, to)
        elif kind in _PLUS_MINUS and target.minimum == 0:
            yield from self._recoded(case, criterion, "2 * ", " - 1")
        elif kind in _YES_NO and target.minimum == -1 and target.maximum == 1 and target.integral:
            yield from self._recoded(case, criterion, "", " > 0")
        elif kind in (*REAL, *_YES_NO):
            yield from self._by_values(case, head, criterion)

    def _by_values(self, case: Case, head: Head, criterion: Criterion) -> Iterator[Change]:
        """Targets of one value per sample, in a loss of single values."""
        kind, target = head.loss.criterion, head.target
        if target is None:
            return
        classes = classes_of(case) if target.integral else None
        one_each = len(target.shape) == 1 or target.shape[1:] == (1,)
        if classes is not None and 2 < classes <= self.most_classes and one_each:
            yield from self._classes(case, head, criterion, classes)
        elif kind in REAL and _is_yes_no(target) and case.cause == "LOS-SELECT":
            yield from self._exchange(case, head, criterion, "binary_cross_entropy_with_logits")
        elif kind in _YES_NO and not _is_yes_no(target):
            yield from self._exchange(case, head, criterion, "mse_loss")

    def _exchange(self, case: Case, head: Head, criterion: Criterion, to: str) -> Iterator[Change]:
        """Another loss on the same outputs and targets."""
        scores = self._scores(case, head)
        loss = exchange(criterion, to)
        if scores is None or not loss:
            return
        edits = [*scores, *loss]
        if to.startswith("binary"):
            edits += self._targets(criterion, _as_yes_no)
            edits += scores_for_probabilities(case.code, model_calls(case))
        elif to == "mse_loss":
            edits += self._targets(criterion, _as_yes_no)
        yield from change(self, case, f"{to} instead of {criterion.kind}", once(edits), knob="loss")

    def _classes(self, case: Case, head: Head, criterion: Criterion, classes: int) -> Iterator[Change]:
        """Class ids in a loss for values: one output per class and cross entropy."""
        scores = self._scores(case, head)
        edits = [*(scores or ()), *exchange(criterion, "cross_entropy")]
        if scores is None or not edits:
            return
        single = len(head.given.shape) == 1 or head.width == 1
        if single:
            width = set_width(case, head, classes)
            if not width.edits:
                return
            reading = class_of_value(case)
            edits += [*width.edits, *reading, *beside(axes_kept(case, head), reading)]
        elif (head.width or 0) < classes:
            return
        edits += self._targets(criterion, _as_classes)
        title = f"cross_entropy over {classes} classes instead of {criterion.kind}"
        yield from change(self, case, title, once(edits), knob="loss")

    @staticmethod
    def _scores(case: Case, head: Head) -> FileEdits | None:
        """The output without its activation; None when it cannot be taken off."""
        if head.last not in _SQUASHING:
            return ()
        applied = applied_at(case, head, head.last)
        return (None if applied is None else without(case, applied)) or None

    @staticmethod
    def _targets(
        criterion: Criterion,
        form: Callable[[File, Criterion, tuple[OperandFact, OperandFact], int], FileEdits],
    ) -> FileEdits:
        edits: FileEdits = ()
        first = next(iter(criterion.facts.values()), None)
        for index, (_, call) in enumerate(criterion.calls):
            fact = criterion.facts.get(call) or first
            known = {} if fact is None else {operand.role: operand for operand in fact.operands}
            if {"prediction", "target"} <= set(known):
                pair = known["prediction"], known["target"]
                edits = (*edits, *form(criterion.calls[index][0], criterion, pair, index))
        return edits

    def _recoded(self, case: Case, criterion: Criterion, before: str, after: str) -> Iterator[Change]:
        """Targets in the code that the loss is made for: 0 and 1, or -1 and 1."""
        edits: FileEdits = ()
        for file, call in criterion.calls:
            pair = arguments(call)
            if pair is not None and after == " > 0":
                edits = (*edits, *wrap(file, pair[1], "(", " > 0).float()"))
            elif pair is not None:
                edits = (*edits, *wrap(file, pair[1], before, after))
        yield from change(
            self, case, f"targets as {criterion.kind} expects them", once(edits), knob="targets"
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        example(
            "class ids as values: width, axes, loss, target and reading change together",
            layers="self.fc = nn.Linear(2, ⟨1 → 3⟩)",
            forward="return self.fc(x)⟨.squeeze(1) → ⟩",
            criterion="nn.⟨MSELoss → CrossEntropyLoss⟩()",
            helpers="""
                def loss_of(x, y):
                    return criterion(model(x), y.⟨float → long⟩())
                def hits(x, y):
                    return model(x).⟨round().clamp(0, 2).long() → argmax(1)⟩ == y""",
            loss="loss_of(torch.randn(6, 2), torch.tensor([0, 1, 2, 2, 1, 0]))",
            mark="nn.MSELoss",
        ),
        example(
            "one class of several, each asked by itself",
            model="nn.Linear(2, 3)",
            criterion="nn.⟨BCEWithLogitsLoss → CrossEntropyLoss⟩()",
            loss="criterion(model(torch.randn(3, 2)), torch.eye(3))",
        ),
        example(
            "several labels per sample",
            model="nn.Linear(2, 3)",
            setup="y = torch.tensor([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]])",
            loss="F.⟨cross_entropy → binary_cross_entropy_with_logits⟩(model(torch.randn(3, 2)), y)",
        ),
        example(
            "real targets in a squared error",
            criterion="⟨nn.MSELoss()⟩",
            loss="criterion(model(torch.randn(8, 2)), torch.randn(8, 1))",
        ),
    )


def _is_yes_no(target: OperandFact) -> bool:
    return bool(target.integral) and target.minimum in (0, 1) and target.maximum in (0, 1)


def _as_classes(
    file: File, criterion: Criterion, pair: tuple[OperandFact, OperandFact], index: int
) -> FileEdits:
    given = arguments(criterion.calls[index][1])
    return () if given is None or pair[1].dtype == "int64" else as_classes(file, given[1], pair[1].shape)


def _as_yes_no(
    file: File, criterion: Criterion, pair: tuple[OperandFact, OperandFact], index: int
) -> FileEdits:
    given = arguments(criterion.calls[index][1])
    if given is None:
        return ()
    return as_yes_no(file, given[1], pair[1].shape, pair[0].shape, pair[1].dtype)
