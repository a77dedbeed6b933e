"""Repairs of the loss: another one for the task, its mean and its sign."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loss.losses import Criterion, criterion_of, exchange
from netmend.changes.loss.objective_terms import (
    Term,
    all_turned,
    expected_sign,
    hinge,
    objective,
    terms,
    turned,
)
from netmend.changes.network.activations import applied_at, without
from netmend.changes.network.heads_in_source import head_of, model_calls
from netmend.changes.network.output_layer import axes_kept, class_of_value, classes_of, set_width
from netmend.changes.network.output_uses import beside, scores_for_probabilities
from netmend.diagnose.measures.heads import REAL, YES_NO_SCORES, Head
from netmend.library.activations import SHARES
from netmend.program.source.naming import qualified
from netmend.program.source.writing import delete_argument, once, replace, united, wrap
from netmend.program.text.queries import last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import OperandFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_YES_NO = ("binary_cross_entropy", *YES_NO_SCORES)
_PLUS_MINUS = ("soft_margin_loss", "hinge_embedding_loss")
_SQUASHING = (*SHARES, "log_softmax", "relu", "tanh")


class LossForTask(Repair, code="R202", cures=("LOS-SELECT", "ACT-OUT-WRONG"), effort=BY_FACTS):
    """Use the loss that fits the targets, together with the output and the form of the targets that it needs.

    Class ids: cross entropy on one raw score per class. Yes/no answers: binary cross entropy on raw scores. Real values: squared
    error. Output width, output activation, target type and what reads the output change in one go.
    """

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
            yield from self._recoded(case, criterion, "(", " > 0).float()")
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
            edits += criterion.targets(classes=False)
            edits += scores_for_probabilities(case.code, model_calls(case))
        elif to == "mse_loss":
            edits += criterion.targets(classes=False)
        yield from self.change(case, f"{to} instead of {criterion.kind}", once(edits), knob="loss")

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
        edits += criterion.targets(classes=True)
        title = f"cross_entropy over {classes} classes instead of {criterion.kind}"
        yield from self.change(case, title, once(edits), knob="loss")

    @staticmethod
    def _scores(case: Case, head: Head) -> FileEdits | None:
        """The output without its activation; None when it cannot be taken off."""
        if head.last not in _SQUASHING:
            return ()
        applied = applied_at(case, head, head.last)
        return (None if applied is None else without(case, applied)) or None

    def _recoded(self, case: Case, criterion: Criterion, before: str, after: str) -> Iterator[Change]:
        """Targets in the code that the loss is made for: 0 and 1, or -1 and 1."""
        edits = united(wrap(pair.file, pair.target, before, after) for pair in criterion.pairs)
        yield from self.change(case, f"targets as {criterion.kind} expects them", edits, knob="targets")

    EXAMPLES = {
        "class ids as values: width, axes, loss, target and reading change together": example(
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
        "one class of several, each asked by itself": example(
            model="nn.Linear(2, 3)",
            criterion="nn.⟨BCEWithLogitsLoss → CrossEntropyLoss⟩()",
            loss="criterion(model(torch.randn(3, 2)), torch.eye(3))",
        ),
        "several labels per sample": example(
            model="nn.Linear(2, 3)",
            setup="y = torch.tensor([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]])",
            loss="F.⟨cross_entropy → binary_cross_entropy_with_logits⟩(model(torch.randn(3, 2)), y)",
        ),
        "real targets in a squared error": example(
            criterion="⟨nn.MSELoss()⟩", loss="criterion(model(torch.randn(8, 2)), torch.randn(8, 1))"
        ),
    }


def _is_yes_no(target: OperandFact) -> bool:
    return bool(target.integral) and target.minimum in (0, 1) and target.maximum in (0, 1)


_VECTOR = "grad can be implicitly created only for scalar outputs"


class LossReductionAndSign(
    Repair, code="R206", cures=("LOS-CALC", "LOS-SELECT", "HYP-LR-HIGH"), explores=True
):
    """Average the loss instead of summing it, and turn terms whose sign is wrong.

    A sum over a batch multiplies every step by the number of samples. Squared errors count as they are, logarithms of
    probabilities with a minus, the agreement in a hinge with a minus: a term the other way round is turned.
    """

    least_elements: int = 8  # a sum over fewer values hardly differs from a mean

    def propose(self, case: Case) -> Iterator[Change]:
        if _VECTOR in (case.trace.run.exception or ""):
            yield from self.change(case, "the mean of the loss", self._scalar(case), knob="loss reduction")
            return
        if case.cause != "LOS-SELECT":
            yield from self.change(case, "mean instead of sum", self._mean(case), knob="loss reduction")
        if case.cause != "HYP-LR-HIGH":
            yield from self.change(case, "negate a term of the loss", self._signs(case), knob="loss sign")

    def _scalar(self, case: Case) -> FileEdits:
        """A loss of one value per sample."""
        for file in case.code.files():
            for call in file.calls():
                for keyword in call.keywords:
                    value = keyword.value
                    if (
                        keyword.arg == "reduction"
                        and isinstance(value, ast.Constant)
                        and value.value == "none"
                    ):
                        return delete_argument(file, call, keyword)
        found = objective(case)
        return () if found is None else wrap(*found, "", ".mean()")

    def _mean(self, case: Case) -> FileEdits:
        loss = case.loss
        if loss is None:
            return ()
        created = case.code.call_at(loss.created or loss.called) if loss.form != "expression" else None
        if loss.settings.get("reduction") == "sum" and created is not None:
            file, call = created
            for keyword in call.keywords:
                if keyword.arg == "reduction" and isinstance(keyword.value, ast.Constant):
                    return delete_argument(file, call, keyword)
                if keyword.arg == "reduction":
                    return replace(file, keyword.value, '"mean"')
        first = next((node for node in loss.operations if not node.startswith(("Neg", "Mul", "Div"))), "")
        if (
            loss.form == "expression"
            and first.startswith("Sum")
            and not any("Div" in o for o in loss.operations[:2])
        ):
            return self._summed(case)
        return ()

    def _summed(self, case: Case) -> FileEdits:
        """The last `.sum()` of an own formula over the whole batch."""
        shapes = [shape for model in case.trace.models for shape in model.output_shapes]
        if not shapes or math.prod(shapes[0]) < self.least_elements:
            return ()
        for term in terms(case):
            for node in (term.node, *term.file.parents(term.node)):
                if isinstance(node, ast.stmt):
                    break
                if (
                    isinstance(node, ast.Call)
                    and last_name(node.func) == "sum"
                    and _over_everything(term, node)
                ):
                    end = term.file.span(node.func)[1]
                    return term.file.edit(end - len("sum"), end, "mean")
        return ()

    @staticmethod
    def _signs(case: Case) -> FileEdits:
        found = terms(case)
        known = [case.code.call_at(loss.called) for loss in case.trace.losses if loss.form != "expression"]
        losses: frozenset[ast.AST] = frozenset(call[1] for call in known if call is not None)
        wrong: list[Term] = []
        right: list[Term] = []
        hinges: FileEdits = ()
        for term in found:
            inner = hinge(term.file, term.node)
            if inner is not None and isinstance(inner, ast.BinOp):
                hinges = (*hinges, *(turned(term.file, inner.right) if _adds_agreement(inner) else ()))
                continue
            wanted = expected_sign(term, [other for other in found if other is not term], losses)
            if wanted and wanted != term.sign:
                wrong.append(term)
            elif wanted:
                right.append(term)
        return once((*hinges, *all_turned(wrong, right)))

    EXAMPLES = {
        "a loss that is summed": example(
            criterion='nn.MSELoss(⟨reduction="sum" → ⟩)',
            loss="criterion(model(torch.randn(8, 2)), torch.randn(8, 1))",
        ),
        "an own formula that is summed, in a module of its own": example(
            data="""
                class Squared(nn.Module):
                    def forward(self, out, y):
                        return ((out - y) ** 2).⟨sum → mean⟩()""",
            criterion="Squared()",
            optimizer="torch.optim.SGD(model.parameters(), lr=0.001)",
            loss="criterion(model(torch.randn(8, 2)), torch.randn(8, 1))",
            mark="criterion = ",
            cause="HYP-LR-HIGH",
        ),
        "a minus too many": example(
            criterion="nn.MSELoss()", loss="⟨- → ⟩criterion(model(torch.randn(8, 2)), torch.randn(8, 1))"
        ),
        "a hinge the wrong way round": example(
            helpers="""
                def hinge(score, target):
                    return torch.clamp(1 ⟨+ → -⟩ score * target, min=0).mean()""",
            loss="hinge(model(torch.randn(8, 2)), torch.ones(8, 1))",
            fault=False,
        ),
        "the scale of a likelihood": example(
            model="nn.Linear(2, 2)",
            optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
            outputs="mean, spread = model(torch.randn(8, 2)).unbind(1)",
            loss="((torch.randn(8) - mean) ** 2 / spread.exp() ⟨- → +⟩ spread).mean()",
        ),
        "nothing to turn": example(
            outputs="p, y = torch.sigmoid(model(torch.randn(8, 2))), torch.ones(8, 1)",
            loss="-(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()",
            mark="loss = ",
        ),
    }


def _over_everything(term: Term, call: ast.Call) -> bool:
    """`x.sum()` or `torch.sum(x)`, without an axis."""
    method = isinstance(call.func, ast.Attribute) and not qualified(term.file, call.func)
    return not call.keywords and len(call.args) == (0 if method else 1)


def _adds_agreement(node: ast.BinOp) -> bool:
    """`margin + score * target`: grows with every right answer."""
    product = isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Mult)
    constant = isinstance(node.left, ast.Constant | ast.Name | ast.Attribute)
    return isinstance(node.op, ast.Add) and product and constant and not _has_number(node.right)


def _has_number(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and any(isinstance(p, ast.Constant) for p in (node.left, node.right))
