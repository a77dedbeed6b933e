"""Repairs of probabilities: their axis, and their logarithms where a loss expects them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loss.losses import Criterion, criterion_of, exchange
from netmend.changes.network.activations import applied_at, without
from netmend.changes.network.heads_in_source import head_of, model_calls
from netmend.changes.network.output_uses import scores_for_probabilities
from netmend.diagnose.measures.heads import Head, heads, place_of
from netmend.library.activations import ACROSS_UNITS, SHARES
from netmend.library.losses import ON_SCORES
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import add_argument, once, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import FunctionFact, LossFact, ModuleFact, OperandFact, Site
from netmend.vocabulary.change import Change, FileEdits

_OVER_AXIS = (
    *ACROSS_UNITS,
    "mean",
    "sum",
    "std",
    "var",
    "normalize",
    "norm",
    "argmax",
    "logsumexp",
    "amax",
    "max",
)
Shape = tuple[int, ...]


class SoftmaxAxis(Repair, code="R205", cures=("ACT-DIM", "TSR-NORM-AXIS")):
    """Let softmax or another reduction run over the axis that is meant: the classes instead of the samples.

    The axis follows from the shapes: that of the classes in the loss for an output, the last one inside a network. Nothing
    else changes.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        site, shape, is_output = self._place(case)
        found = case.code.call_at(site)
        if found is None or site is None:
            return
        file, call = found
        for axis in self._axes(case, file, call, shape, is_output):
            position = 0 if _is_method(file, call) or last_name(call.func)[:1].isupper() else 1
            faces: Faces | tuple[()] = set_argument(case.code, site, "dim", axis, position, case.arguments)
            given = case.sources.argument(call, "dim", position)
            if given is None:
                faces = Faces(add_argument(file, call, f"dim={axis}"))
            elif isinstance(given, ast.UnaryOp | ast.Constant):
                faces = Faces(replace(file, given, axis))
            name = last_name(call.func)
            yield from self.change(
                case, f"{name} over axis {axis}", faces, knob=f"axis of {name} at {site.short}"
            )

    @staticmethod
    def _place(case: Case) -> tuple[Site | None, Shape, bool]:
        """The call that sets the axis, the shape it works on, and whether it makes the output of the model."""
        head = head_of(case)
        if head is not None and "softmax" in head.last and case.cause == "ACT-DIM":
            place = place_of(case.trace, head, head.last)
            wanted = case.component
            if place is not None and (wanted in ("", place.component) or _same(case, place.site)):
                return place.site, _shape(case, place.component) or head.given.shape, True
        site = case.site
        for module in case.trace.all(ModuleFact):
            if (
                site is not None
                and module.activation in _OVER_AXIS
                and site in (module.called, module.created)
            ):
                return module.created, _shape(case, module.name), False
        for function in case.trace.all(FunctionFact):
            if site is not None and function.site is not None and function.site == site:
                return site, function.output_shape, False
        return site, (), False

    @staticmethod
    def _axes(case: Case, file: File, call: ast.Call, shape: Shape, is_output: bool) -> list[str]:
        name = last_name(call.func)
        if name.lower().replace("logsoftmax", "log_softmax") not in _OVER_AXIS:
            return []
        given = case.sources.argument(call, "dim", 0 if _is_method(file, call) or name[:1].isupper() else 1)
        present = None if given is None else ast.unparse(given)
        head = head_of(case)
        axes = ["-1", "1"] if len(shape) > 2 else ["1"]
        if is_output and head is not None and len(shape) > 2:
            axes = ["-1"] if shape[-1] == head.width else ["1"]
        if present is not None and present.startswith("-") and len(shape) <= 2:
            axes = ["-1"]
        return [axis for axis in axes if axis != present]

    EXAMPLES = {
        "a module": example(
            model="nn.Sequential(nn.Linear(2, 3), nn.LogSoftmax(dim=⟨0 → 1⟩))",
            criterion="nn.NLLLoss()",
            loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
        ),
        "a method": example(
            layers="self.fc = nn.Linear(2, 3)",
            forward="return self.fc(x).log_softmax(⟨0 → 1⟩)",
            loss="F.nll_loss(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
        ),
        "over the classes already": example(
            model="nn.Linear(2, 3)",
            outputs="⟨out = F.log_softmax(model(torch.randn(8, 2)), dim=1)⟩",
            loss="F.nll_loss(out, torch.zeros(8, dtype=torch.long))",
        ),
    }


def _is_method(file: File, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and not qualified(file, call.func)


def _same(case: Case, site: Site | None) -> bool:
    told = case.site
    return told is not None and site is not None and (told.file, told.line) == (site.file, site.line)


def _shape(case: Case, component: str) -> Shape:
    module = case.trace.get(ModuleFact, component)
    if module is not None and module.output_shapes:
        return module.output_shapes[0]
    function = case.trace.get(FunctionFact, component)
    return () if function is None else function.output_shape


_SQUASHING = (*SHARES, "log_softmax", "logsigmoid", "log", "clamp")


_example = partial(
    example,
    model="nn.Linear(2, 3)",
    loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
)


class LogProbabilities(
    Repair, code="R203", cures=("LYR-SOFTMAX-MISSING", "ACT-OUT-MISSING", "ACT-OUT-WRONG"), knob="loss"
):
    """Use the loss that takes raw scores, where raw scores are given.

    CrossEntropyLoss for NLLLoss, BCEWithLogitsLoss for BCELoss: they apply softmax or sigmoid themselves, in a form that stays
    exact. Thresholds on the output (`> 0.5`) follow.
    """

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
            yield from self.change(case, "log_softmax before the divergence", edits)
            return
        output = self._output(case, head)
        if output is None:
            return
        to = ON_SCORES[criterion.kind]
        loss = exchange(criterion, to)
        if loss and to.endswith("logits"):
            loss = (*loss, *scores_for_probabilities(case.code, model_calls(case)))
        if loss:
            yield from self.change(case, f"{to} instead of {criterion.kind}", once((*output, *loss)))

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
        for pair in criterion.pairs:
            name, extra = spelled(pair.file, "torch.nn.functional.log_softmax", like=pair.call.func)
            edits = (*edits, *wrap(pair.file, pair.prediction, f"{name}(", ", dim=-1)"), *extra)
        return once(edits)

    EXAMPLES = {
        "scores into the likelihood loss": _example(criterion="nn.⟨NLLLoss → CrossEntropyLoss⟩()"),
        "a function that is looked up by its name": _example(
            data='LOSS = "⟨nll_loss → cross_entropy⟩"',
            helpers="loss_of = getattr(F, LOSS)",
            loss="loss_of(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
            mark="loss = ",
        ),
        "a function, in all its places": example(
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
        "scores that the loss for probabilities refuses; the threshold follows": _example(
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
        "log-probabilities are right for it": _example(
            model="nn.Sequential(nn.Linear(2, 3), nn.LogSoftmax(dim=1))", criterion="⟨nn.NLLLoss()⟩"
        ),
    }


def _unseen(case: Case) -> Head | None:
    """The head of a program that its loss stopped: by the model's last layer."""
    last = next((layer for layer in reversed(case.trace.layers()) if layer.order is not None), None)
    if last is None or last.activation is None or case.model is None or not case.model.output_shapes:
        return None
    given = OperandFact("prediction", case.model.output_shapes[0])
    return Head(LossFact(""), given, None, (last.activation,))
