"""R215."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loss.hand_written import (
    CLASSES,
    PICKED,
    YES_NO,
    HandWritten,
    hand_written,
    without_guard,
)
from netmend.changes.loss.objective_terms import given_to
from netmend.changes.network.activations import applied_at, without
from netmend.changes.network.heads_in_source import (
    head_of,
    last_function,
    last_head,
    model_calls,
    output_width,
)
from netmend.changes.network.output_uses import scores_for_probabilities
from netmend.library.activations import SQUASHING
from netmend.program.source.bindings import binding_of
from netmend.program.source.dataflow import bound
from netmend.program.source.naming import spelled
from netmend.program.source.writing import delete_statement, once, replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_SQUASHING = (*SQUASHING, "softmax", "relu", "softplus", "exp")
_ONE_HOT = ("one_hot", "eye", "scatter_", "to_categorical", "get_dummies", "label_binarize")
_CROSS, _YES_NO_SCORES = "cross_entropy", "binary_cross_entropy_with_logits"


class LibraryLoss(
    Repair,
    code="R215",
    cures=("LOS-SELECT", "LYR-SOFTMAX-MISSING", "LOS-CALC", "ACT-OUT-WRONG", "ACT-OUT-MISSING"),
    knob="loss",
    effort=BY_FACTS,
):
    """Put the loss that fits in the place of one that is written by hand.

    Cross entropy on raw scores for classes, with one-hot targets or ids; binary cross entropy on raw scores for yes/no answers. The
    activation of the output goes, since these losses bring their own. Where it cannot be found, the likelihood of the probabilities is written out.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = hand_written(case)
        to = "" if found is None else self._wanted(case, found)
        if found is None or not to:
            return
        file = found.file
        prediction, undone = _unguarded(file, found.prediction)
        inner = prediction if not found.raw else found.prediction
        function = "" if found.raw else last_function(case)
        squashed = isinstance(inner, ast.Call) and last_name(inner.func) in _SQUASHING
        value = given_to(file, inner) if squashed and isinstance(inner, ast.Call) else None
        scores: FileEdits | None = ()
        if value is not None:
            inner = value
        elif function in _SQUASHING:
            head = last_head(case)
            applied = None if head is None else applied_at(case, head, function)
            scores = (None if applied is None else without(case, applied)) or None
        if scores is not None:
            name, extra = spelled(file, f"torch.nn.functional.{to}")
            text = f"{name}({file.source(inner)}, {self._target(case, found, to)})"
            readers = scores_for_probabilities(case.code, model_calls(case)) if to == _YES_NO_SCORES else ()
            edits = once((*replace(file, found.whole, text), *undone, *extra, *scores, *readers))
            yield from self.change(case, f"{to} instead of one written by hand", edits)
        if function == "softmax" and to == _CROSS and found.kind not in (CLASSES, PICKED):
            name, extra = spelled(file, "torch.log")
            text = f"-({self._target(case, found, to)} * {name}({file.source(inner)} + 1e-8)).sum(1).mean()"
            edits = once((*replace(file, found.whole, text), *extra))
            yield from self.change(case, "the likelihood of the probabilities", edits)

    @staticmethod
    def _wanted(case: Case, found: HandWritten) -> str:
        """The loss that the targets ask for; "" where this one may be right."""
        head = head_of(case)
        target = None if head is None else head.target
        width = output_width(case)
        if width is None:
            return ""
        if width == 1:
            yes_no = found.kind in (YES_NO, CLASSES) or (
                target is not None and target.integral and (target.minimum, target.maximum) == (0, 1)
            )
            if (
                target is None and case.cause == "LOS-SELECT"
            ):  # not seen, but answers between 0 and 1 are wanted
                yes_no = yes_no or last_function(case) in ("sigmoid", "hardsigmoid")
            return _YES_NO_SCORES if yes_no and found.kind != PICKED else ""
        if found.kind in (CLASSES, PICKED):
            return _CROSS
        hot = _is_one_hot(found) or (target is not None and 1 in target.normalised_axes)
        if hot:
            return _CROSS
        return _YES_NO_SCORES if found.kind == YES_NO else ""

    @staticmethod
    def _target(case: Case, found: HandWritten, to: str) -> str:
        """The target as the loss takes it: real numbers, but for class ids."""
        text = found.file.source(found.target)
        if not isinstance(found.target, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            text = f"({text})"
        if found.kind == PICKED:
            return text
        head = head_of(case)
        if head is not None and head.target is not None:
            return text if head.target.dtype.startswith("float") else f"{text}.float()"
        origin = " ".join(_origins(found))
        return text if "float" in origin or "eye" in origin else f"{text}.float()"

    EXAMPLES = {
        "squared differences of probabilities": example(
            model="nn.Sequential(nn.Linear(4, 3)⟨, nn.Softmax(dim=1) → ⟩)",
            outputs="""
                x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 2, 1, 0])
                probs, hot = model(x), F.one_hot(y, 3).float()""",
            loss="⟨((probs - hot) ** 2).sum(1).mean() → F.cross_entropy(probs, hot)⟩",
            mark="loss = ",
        ),
        "a function of the script, given scores instead of probabilities": example(
            model="nn.Linear(4, 3)",
            helpers="""
                def crossentropy(p, labels):
                    - p = p.clamp(1e-7, 1 - 1e-7)
                    return ⟨-(F.one_hot(labels, 3) * torch.log(p)).sum(dim=1).mean() → F.cross_entropy(p, F.one_hot(labels, 3).float())⟩""",
            loss="crossentropy(model(torch.randn(6, 4)), torch.tensor([0, 1, 2, 2, 1, 0]))",
            mark="torch.log(p)",
            cause="LYR-SOFTMAX-MISSING",
        ),
        "real targets keep their squared differences": example(
            model="nn.Linear(4, 1)",
            loss="(model(torch.randn(6, 4)) - torch.randn(6, 1)).pow(2).mean()",
            mark="loss = ",
        ),
    }


def _unguarded(file: File, prediction: ast.expr) -> tuple[ast.expr, FileEdits]:
    """The prediction without lines that cut or normalise it first, such as `p = p.clamp(1e-7, 1)`, and the edits that take them away."""
    edits: FileEdits = ()
    prediction = without_guard(file, prediction)
    found = bound(file, prediction) if isinstance(prediction, ast.Name) else None
    if found is None or not isinstance(prediction, ast.Name):
        return prediction, edits
    statement, value = found
    inner = without_guard(file, value)
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div) and _sums(inner.right, inner.left):
        inner = inner.left
    if inner is value or file.function(statement) is not file.function(prediction):
        return prediction, edits
    if isinstance(inner, ast.Name) and inner.id == prediction.id:
        return inner, delete_statement(file, statement)
    return inner, edits


def _sums(total: ast.expr, part: ast.expr) -> bool:
    """`p.sum(1, keepdim=True)` beside `p`."""
    return (
        isinstance(total, ast.Call)
        and last_name(total.func) == "sum"
        and any(ast.dump(node) == ast.dump(part) for node in inside(total, ast.expr))
    )


def _is_one_hot(found: HandWritten) -> bool:
    return any(name in text for text in _origins(found) for name in _ONE_HOT)


def _origins(found: HandWritten) -> Iterator[str]:
    """Texts that say where the target comes from: its own, that of its variable, that of the argument it is a parameter for."""
    file, target = found.file, found.target
    for number in range(len(found.calls) + 1):
        yield file.source(target)
        held = _held(target)
        binding = binding_of(file, held) if isinstance(held, ast.Name) else None
        if binding is not None and not binding.path:
            yield file.source(binding.value)
        function = file.function(target) or _lambda(file, target)
        if function is None or number == len(found.calls):
            return
        names = [argument.arg for argument in function.args.args if argument.arg != "self"]
        name = last_name(held)
        file, call = found.calls[-1 - number]
        given = call.args[names.index(name)] if name in names and names.index(name) < len(call.args) else None
        given = given or next((k.value for k in call.keywords if k.arg == name), None)
        if given is None:
            return
        target = given


def _held(node: ast.expr) -> ast.expr:
    """`hot` of `hot[rows]`."""
    return node.value if isinstance(node, ast.Subscript) else node


def _lambda(file: File, node: ast.expr) -> ast.Lambda | None:
    return next((above for above in file.parents(node) if isinstance(above, ast.Lambda)), None)
