"""R206."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loss.objective_terms import Term, all_turned, hinge, objective, terms, turned
from netmend.changes.loss.term_signs import expected_sign
from netmend.changes.network.output_uses import once
from netmend.program.source.naming import qualified
from netmend.program.source.writing import delete_argument, replace, wrap
from netmend.program.text.positions import lines_of
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change, FileEdits

_VECTOR = "grad can be implicitly created only for scalar outputs"


@register
@dataclass(frozen=True)
class LossReductionAndSign:
    """Average the loss instead of summing it, and turn terms whose sign is wrong.

    A sum over a batch multiplies every step by the number of samples. Squared errors count as they are, logarithms of
    probabilities with a minus, the agreement in a hinge with a minus: a term the other way round is turned.
    """

    code: ClassVar[str] = "R206"
    cures: ClassVar[tuple[str, ...]] = ("LOS-CALC", "LOS-SELECT", "HYP-LR-HIGH")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = True

    least_elements: int = 8  # a sum over fewer values hardly differs from a mean

    def propose(self, case: Case) -> Iterator[Change]:
        if _VECTOR in (case.trace.run.exception or ""):
            yield from change(self, case, "the mean of the loss", self._scalar(case), knob="loss reduction")
            return
        if case.cause != "LOS-SELECT":
            yield from change(self, case, "mean instead of sum", self._mean(case), knob="loss reduction")
        if case.cause != "HYP-LR-HIGH":
            yield from change(self, case, "negate a term of the loss", self._signs(case), knob="loss sign")

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
                    place, lines = term.file.place(node.func), lines_of(term.file.text)
                    end = lines.offset(place.end_line, place.end_column) or 0
                    return term.file.edits(lines.edit(end - len("sum"), end, "mean"))
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

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        example(
            "a loss that is summed",
            criterion='nn.MSELoss(⟨reduction="sum" → ⟩)',
            loss="criterion(model(torch.randn(8, 2)), torch.randn(8, 1))",
        ),
        example(
            "an own formula that is summed, in a module of its own",
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
        example(
            "a minus too many",
            criterion="nn.MSELoss()",
            loss="⟨- → ⟩criterion(model(torch.randn(8, 2)), torch.randn(8, 1))",
        ),
        example(
            "a hinge the wrong way round",
            helpers="""
                def hinge(score, target):
                    return torch.clamp(1 ⟨+ → -⟩ score * target, min=0).mean()""",
            loss="hinge(model(torch.randn(8, 2)), torch.ones(8, 1))",
            fault=False,
        ),
        example(
            "the scale of a likelihood",
            model="nn.Linear(2, 2)",
            optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
            outputs="mean, spread = model(torch.randn(8, 2)).unbind(1)",
            loss="((torch.randn(8) - mean) ** 2 / spread.exp() ⟨- → +⟩ spread).mean()",
        ),
        example(
            "nothing to turn",
            outputs="p, y = torch.sigmoid(model(torch.randn(8, 2))), torch.ones(8, 1)",
            loss="-(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()",
            mark="loss = ",
        ),
    )


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
