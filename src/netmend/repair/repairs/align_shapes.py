"""R204."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loss.losses import criterion_of
from netmend.changes.network.heads_in_source import head_of, model_calls
from netmend.diagnose.measures.heads import same_values
from netmend.program.source.dataflow import SHAPING, Use, bound, uses
from netmend.program.source.writing import once, united, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import arguments_of, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import FunctionFact, LossFact
from netmend.vocabulary.change import Change, FileEdits

_REFUSED = re.compile(
    r"target size \(torch\.Size\(\[([\d, ]*)\]\)\).{0,60}input size \(torch\.Size\(\[([\d, ]*)\]\)\)", re.I
)
_WANTED = re.compile(r"Expected target size \[(\d+), (\d+)\], got \[(\d+), (\d+)\]")
_ROWS = re.compile(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
_JOINING = ("cat", "concat", "hstack", "column_stack")
Shape = tuple[int, ...]


class AlignShapes(
    Repair, code="R204", cures=("TSR-SQUEEZE", "TSR-SHAPE", "INP-METHOD-SHAPE"), knob="loss shapes"
):
    """Bring predictions and targets to the same shape before they meet.

    [N, 1] against [N] becomes an N × N table in which every prediction meets all targets. The axis of length one is taken away
    where the two meet, or from the output itself when other places compare it too.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        by_hand = self._by_hand(case)
        if by_hand:
            yield from self.change(case, "predictions and targets of one shape", by_hand)
            return
        if "multi-target not supported" in (case.trace.run.exception or ""):
            for text in (".squeeze(1).long()", ".argmax(1)"):
                edits = self._arguments(case, 1, text)
                yield from self.change(case, f"targets{text}", edits)
            return
        sequence = self._sequence(case)
        if sequence is not None:
            yield from self.change(case, sequence[0], sequence[1])
            return
        edits = self._at_losses(case)
        if edits:
            yield from self.change(case, "predictions and targets of one shape", edits)
            yield from self.change(case, "an output without axis of length one", self._at_model(case))

    @staticmethod
    def _by_hand(case: Case) -> FileEdits:
        """Two tensors of an own formula."""
        for fact in case.trace.all(FunctionFact):
            if fact.kind != "loss path" or fact.site is None or "first" not in fact.settings:
                continue
            first, second = tuple(fact.settings["first"]), tuple(fact.settings["second"])
            file = case.code.file(fact.site.file)
            node = None if file is None else file.node_at(fact.site)
            if file is None or len(first) == len(second) or not same_values(first, second):
                continue
            pair = _operands(node)
            if pair is None:
                continue
            longer, other = (0, 1) if len(first) > len(second) else (1, 0)
            shapes = (first, second)
            text = _without_axis(shapes[longer], shapes[other])
            text = _in_shared(case, file, pair[longer], pair[other]) or text
            return wrap(file, pair[longer], "", text)
        return ()

    @staticmethod
    def _arguments(case: Case, which: int, text: str) -> FileEdits:
        """A method behind the prediction (0) or the target (1) of the loss that stopped the program."""
        criterion = criterion_of(case, None)
        pairs = [] if criterion is None else criterion.pairs
        return united(wrap(pair.file, (pair.prediction, pair.target)[which], "", text) for pair in pairs)

    def _sequence(self, case: Case) -> tuple[str, FileEdits] | None:
        """One class per step: cross entropy wants the classes on axis 1, or all steps of a batch in one row."""
        text = case.trace.run.exception or ""
        wanted, rows = _WANTED.search(text), _ROWS.search(text)
        model = case.model
        shape = model.output_shapes[0] if model is not None and model.output_shapes else ()
        if wanted is not None and len(shape) == 3:
            samples, classes, steps = int(wanted[1]), int(wanted[2]), int(wanted[4])
            if shape == (samples, steps, classes):
                return "classes on axis 1", self._arguments(case, 0, ".transpose(1, 2)")
        if (
            rows is not None
            and len(shape) >= 2
            and math.prod(shape[:2]) == int(rows[1])
            and shape[0] == int(rows[2])
        ):
            return "targets in one row", self._arguments(case, 1, ".reshape(-1)")
        return None

    def _at_losses(self, case: Case) -> FileEdits:
        head = head_of(case)
        refused = _REFUSED.search(case.trace.run.exception or "")
        criterion = criterion_of(case, None if head is None else head.loss)
        if criterion is None:
            return ()
        edits: FileEdits = ()
        for each in criterion.pairs:
            file, pair, fact = each.file, (each.prediction, each.target), each.fact
            shapes = None if fact is None else _shapes(fact)
            if shapes is None and refused is not None:
                target, given = (tuple(int(n) for n in re.findall(r"\d+", text)) for text in refused.groups())
                shapes = given, target
            if shapes is None or len(shapes[0]) == len(shapes[1]) or not same_values(*shapes):
                continue
            longer = 0 if len(shapes[0]) > len(shapes[1]) else 1
            if fact is None and _is_shaped(file, pair[longer]):
                continue  # another call than the one that was refused, and in order
            text = _without_axis(shapes[longer], shapes[1 - longer])
            shared = _in_shared(case, file, pair[longer], pair[1 - longer])
            place = pair[longer] if shared else self._place(case, file, pair[longer], text)
            edits = (*edits, *wrap(file, place, "", shared or text))
        return once(edits)

    @staticmethod
    def _place(case: Case, file: File, value: ast.expr, text: str) -> ast.expr:
        """The argument itself, or the expression that made it when others compare it as well."""
        made = bound(file, value) if isinstance(value, ast.Name) else None
        if made is None or not isinstance(made[1], ast.Call):
            return value
        taken = list(uses(case.code, file, made[1]))
        compared = any(isinstance(use.user, ast.BinOp | ast.Compare) for use in taken)
        return made[1] if compared and not any(map(_needs_axis, taken)) else value

    @staticmethod
    def _at_model(case: Case) -> FileEdits:
        """All calls of the model, when some compare its output with no loss of the library and none reshapes it."""
        calls, model = model_calls(case), case.model
        shape = model.output_shapes[0] if model is not None and model.output_shapes else ()
        if len(calls) < 2 or len(shape) != 2 or shape[1] != 1:
            return ()
        taken = [use for file, call in calls for use in uses(case.code, file, call)]
        if any(map(_needs_axis, taken)):
            return ()
        if not any(isinstance(use.user, ast.BinOp | ast.Compare) for use in taken):
            return ()
        return once(edit for file, call in calls for edit in wrap(file, call, "", ".squeeze(1)"))

    EXAMPLES = {
        "an output of one column": example(
            criterion="nn.MSELoss()",
            loss="criterion(⟨model(torch.randn(8, 2)) → model(torch.randn(8, 2)).squeeze(1)⟩, torch.randn(8))",
        ),
        "targets of one column, in an own formula": example(
            setup="y = torch.randn(8, 1)",
            outputs="out = model(torch.randn(8, 2)).view(-1)",
            loss="((out - ⟨y → y.squeeze(1)⟩) ** 2).mean()",
        ),
        "a loss that refuses": example(
            criterion="nn.BCEWithLogitsLoss()",
            setup="y = torch.ones(8)",
            outputs="out = model(torch.randn(8, 2))",
            loss="criterion(⟨out → out.squeeze(1)⟩, y)",
            raises=True,
        ),
        "a loss that refuses where others are in order": example(
            criterion="nn.BCEWithLogitsLoss()",
            setup="x, y = torch.randn(8, 2), torch.ones(8)\nbefore = criterion(torch.squeeze(model(x)), y)",
            outputs="out = model(x)",
            loss="criterion(⟨out → out.squeeze(1)⟩, y)",
            raises=True,
        ),
        "a column that is read later: only the loss is given a row": example(
            criterion="nn.BCEWithLogitsLoss()",
            setup="y = torch.ones(8)",
            outputs="out = model(torch.randn(8, 2))",
            loss="criterion(⟨out → out.squeeze(1)⟩, y)",
            after_step="right = ((out[:, 0] > 0) == y).sum()\nhigh = (out > 0).sum()",
            raises=True,
        ),
        "compared whole: a row for all": example(
            criterion="nn.BCEWithLogitsLoss()",
            setup="y = torch.ones(8)",
            outputs="out = ⟨model(torch.randn(8, 2)) → model(torch.randn(8, 2)).squeeze(1)⟩",
            loss="criterion(out, y)",
            after_step="right = ((out > 0) == y).sum(0)",
            mark="loss = criterion",
            raises=True,
        ),
        "a loss that others call with columns": example(
            data="""
                class Loss(nn.Module):
                    def forward(self, out, wanted):
                        return nn.functional.mse_loss(⟨out → out.view_as(wanted)⟩, wanted)""",
            criterion="Loss()",
            loss="criterion(model(torch.randn(8, 2)), torch.randn(8))",
            end="""
                with torch.no_grad():
                    print(criterion(model(torch.randn(4, 2)), torch.randn(4, 1)))""",
        ),
        "one class per step: the classes belong on axis 1": example(
            model="nn.Linear(2, 4)",
            criterion="nn.CrossEntropyLoss()",
            loss="criterion(⟨model(torch.randn(8, 5, 2)) → model(torch.randn(8, 5, 2)).transpose(1, 2)⟩, torch.zeros(8, 5, dtype=torch.long))",
            cause="INP-METHOD-SHAPE",
            raises=True,
        ),
        "shapes that are equal": example(
            criterion="nn.MSELoss()",
            loss="criterion(model(torch.randn(8, 2)), torch.randn(8, 1))",
            mark="loss = criterion",
        ),
    }


def _is_shaped(file: File, value: ast.expr) -> bool:
    """Whether an axis is taken away already where the value is made or handed over."""
    made = bound(file, value) if isinstance(value, ast.Name) else None
    node = value if made is None else made[1]
    return isinstance(node, ast.Call) and last_name(node.func) in SHAPING


def _operands(node: ast.AST | None) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if isinstance(node, ast.Call) and len(node.args) == 2:
        return node.args[0], node.args[1]
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
        return node.func.value, node.args[0]
    return None


def _in_shared(case: Case, file: File, longer: ast.expr, other: ast.expr) -> str:
    """The shape of the other, whatever it is: in a function that several places call with tensors of their own."""
    function, owner = file.function(longer), file.owner(longer)
    if function is None or not isinstance(other, ast.Name | ast.Attribute):
        return ""
    if not any(isinstance(n, ast.Name) and n.id in arguments_of(function) for n in (longer, other)):
        return ""
    name = function.name
    if name in ("forward", "__call__") and owner is not None:
        held = [file.statement(call) for each in case.code.files() for call in each.calls(owner.name)]
        names = {last_name(t) for s in held if isinstance(s, ast.Assign) for t in s.targets} - {""}
    else:
        names = {name}
    taken = [c for each in case.code.files() for c in each.calls(*names)] if names else []
    return f".view_as({file.source(other)})" if len(taken) > 1 else ""


def _needs_axis(use: Use) -> bool:
    """Whether it reads an output of one column as such: shaped anew, by its column, along an axis, joined with others."""
    name, user = use.method or use.function, use.user
    if name in SHAPING or isinstance(user, ast.Subscript) or name in _JOINING:
        return True
    given = [*user.args, *user.keywords] if isinstance(user, ast.Call) else []
    axes = [a.value for a in given if isinstance(a, ast.keyword) and a.arg in ("dim", "axis")]
    if use.method:
        axes += [a for a in given if isinstance(a, ast.Constant)]
    return any(ast.unparse(axis) not in ("0", "None") for axis in axes)


def _shapes(fact: LossFact) -> tuple[Shape, Shape] | None:
    known = {operand.role: operand.shape for operand in fact.operands}
    return (known["prediction"], known["target"]) if {"prediction", "target"} <= set(known) else None


def _without_axis(shape: Shape, wanted: Shape) -> str:
    """The call that brings a shape to a shorter one of the same values."""
    for axis, size in reversed(list(enumerate(shape))):  # a single sample has its axis of one as well
        if size == 1 and shape[:axis] + shape[axis + 1 :] == wanted:
            return f".squeeze({axis})"
    return ".flatten()" if len(wanted) == 1 else ".squeeze()"
