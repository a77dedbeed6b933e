"""Repairs of what stands behind the last layer: taken away, or another function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.network.activations import Applied, applied_at, clamp_at, exchanged, without
from netmend.changes.network.heads_in_source import head_of, last_layer, model_calls
from netmend.changes.network.layer_removal import call_removed, value_of
from netmend.changes.network.output_uses import scores_again, scores_for_probabilities
from netmend.diagnose.measures.heads import Head
from netmend.library.activations import OF_ANSWERS
from netmend.library.losses import DISTANCES
from netmend.program.source.writing import delete_argument, once
from netmend.program.text.queries import last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import FunctionFact
from netmend.vocabulary.change import Change, FileEdits

# Losses that are made for probabilities: without the function they would be given scores.
_PROBABILITIES = ("binary_cross_entropy", "nll_loss", "kl_div")


_DROPPED = frozenset(OF_ANSWERS) - {"softsign"}  # for a softsign the fix of the checker is told


class DropOutputActivation(
    Repair, code="R201", cures=("LYR-SOFTMAX-EXTRA", "ACT-EXTRA", "ACT-OUT-WRONG"), knob="output activation"
):
    """Remove the activation after the last layer.

    Losses on scores apply softmax or sigmoid themselves, and real targets need an output that can take any value. Thresholds on
    the output (`> 0.5`) are changed along with it, so that the program goes on to measure the same.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        head = head_of(case)
        if case.cause == "ACT-EXTRA" and head is not None and head.loss.criterion == "nll_loss":
            edits = _on_the_scores(case)
            yield from self.change(case, "no relu before log_softmax", edits)
        if head is None or head.loss.criterion in _PROBABILITIES:
            return
        if head.loss.criterion not in ("cross_entropy", "binary_cross_entropy_with_logits") and (
            head.last == "softmax" and head.class_axis in head.given.normalised_axes
        ):
            return  # shares against shares: the loss or the function is wrong, but not simply too much
        applied = applied_at(case, head, head.last) if head.last in _DROPPED else None
        edits = () if applied is None else without(case, applied)
        if applied is not None and edits:
            edits = once((*edits, *self._readers(case, head, applied)))
            yield from self.change(case, f"no {head.last} before {head.loss.criterion}", edits)
        elif case.cause == "LYR-SOFTMAX-EXTRA":
            title = "take the logarithm of the probabilities before cross_entropy"
            yield from self.change(case, title, scores_again(case, head))

    @staticmethod
    def _readers(case: Case, head: Head, applied: Applied) -> FileEdits:
        """Thresholds on what were probabilities."""
        if head.last not in ("sigmoid", "softmax"):
            return ()
        between = any(
            fact.kind == "loss path" and fact.site is not None and fact.site.line == applied.call.lineno
            for fact in case.trace.all(FunctionFact)
            if fact.function == head.last
        )
        values = [(applied.file, applied.call)] if between else model_calls(case)
        return scores_for_probabilities(case.code, values, head.last)

    EXAMPLES = {
        "a relu on the scores, before log_softmax": example(
            layers="self.fc = nn.Linear(2, 3)",
            forward="x = ⟨F.relu(self.fc(x)) → self.fc(x)⟩\nreturn F.log_softmax(x, dim=1)",
            loss="F.nll_loss(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
            cause="ACT-EXTRA",
        ),
        "the last layer of a sequence; the threshold follows": example(
            model="""
                nn.Sequential(
                    nn.Linear(2, 1),
                    - nn.Sigmoid(),
                )""",
            helpers="""
                def right(x, y):
                    return ((model(x) > ⟨0.5 → 0⟩).float() == y).float().mean()
                criterion = nn.BCEWithLogitsLoss()""",
            loss="criterion(model(torch.randn(8, 2)), torch.ones(8, 1))",
        ),
        "a function in forward": example(
            layers="self.fc = nn.Linear(2, 3)",
            forward="x = self.fc(x)\nreturn ⟨F.softmax(x, dim=1) → x⟩",
            loss="F.cross_entropy(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
        ),
        "one module for hidden and output layers: only its last call goes": example(
            layers="self.first, self.last = nn.Linear(2, 4), nn.Linear(4, 3)\nself.act = nn.ReLU()",
            forward="x = self.act(self.first(x))\nreturn self.⟨act(self.last(x)) → last(x)⟩",
            criterion="nn.CrossEntropyLoss()",
            loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
            cause="ACT-EXTRA",
        ),
        "layers of a loop: the last one is taken off": example(
            data="""
                layers = []
                for width in ((2, 4), (4, 1)):
                    layers += [nn.Linear(*width), ⟨nn.ReLU()⟩]""",
            model="nn.Sequential(*⟨layers → layers[:-1]⟩)",
            loss="nn.functional.mse_loss(model(torch.randn(8, 2)), torch.randn(8, 1))",
            cause="ACT-OUT-WRONG",
        ),
        "a word chooses it": example(
            data="""
                KNOWN = {"relu": torch.relu, "linear": lambda v: v}
                class Dense(nn.Module):
                    def __init__(self, inputs, outputs, activation):
                        super().__init__()
                        self.linear = nn.Linear(inputs, outputs)
                        self.activation = KNOWN[activation]
                    def forward(self, x):
                        ⟨return self.activation(self.linear(x))⟩""",
            model='nn.Sequential(Dense(2, 4, "relu"), Dense(4, 1, "⟨relu → linear⟩"))',
            loss="nn.functional.mse_loss(model(torch.randn(8, 2)), torch.randn(8, 1))",
            cause="ACT-OUT-WRONG",
        ),
        "between model and loss": example(
            model="nn.Linear(2, 3)",
            criterion="nn.CrossEntropyLoss()",
            outputs="out = ⟨model(torch.randn(8, 2)).softmax(dim=1) → model(torch.randn(8, 2))⟩",
            loss="criterion(out, torch.zeros(8, dtype=torch.long))",
        ),
        "a logarithm of the probabilities beside the loss": example(
            model="nn.Sequential(nn.Linear(2, 3)⟨, nn.Softmax(dim=1) → ⟩)",
            criterion="nn.CrossEntropyLoss()",
            loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
            end="""
                with torch.no_grad():
                    p = model(torch.randn(8, 2))
                    print("val nll", -torch.log(⟨p → torch.softmax(p, dim=1)⟩)[:, 0].mean().item())""",
        ),
        "a softmax by hand: its logarithm for the loss alone": example(
            model="nn.Linear(2, 3)",
            criterion="nn.CrossEntropyLoss()",
            outputs="""
                powers = torch.exp(model(torch.randn(8, 2)))
                shares = powers / powers.sum(dim=1, keepdim=True)""",
            loss="criterion(⟨shares → shares.clamp_min(1e-8).log()⟩, torch.zeros(8, dtype=torch.long))",
            after_step="sure = shares.max(1).values",
        ),
        "divided by hand, and no shares": example(
            model="nn.Linear(2, 3)",
            criterion="nn.CrossEntropyLoss()",
            outputs="""
                powers = torch.exp(model(torch.randn(8, 2)))
                shares = powers / powers.norm(dim=1, keepdim=True)""",
            loss="criterion(shares, torch.zeros(8, dtype=torch.long))",
            after_step="sure = shares.max(1).values",
            mark="loss = criterion",
        ),
        "one function for each layer: the list keeps its length": example(
            layers="""
                self.layers = nn.ModuleList([nn.Linear(2, 4), nn.Linear(4, 3)])
                self.functions = functions""",
            forward="""
                for layer, function in zip(self.layers, self.functions):
                    x = function(layer(x))
                return x""",
            takes="functions",
            model="Net([nn.ReLU(), nn.⟨Softmax(dim=1) → Identity()⟩])",
            criterion="nn.CrossEntropyLoss()",
            loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
        ),
        "a loss on probabilities keeps its sigmoid": example(
            model="nn.Sequential(nn.Linear(2, 1), ⟨nn.Sigmoid()⟩)",
            loss="nn.functional.binary_cross_entropy(model(torch.randn(8, 2)), torch.ones(8, 1))",
        ),
    }


def _on_the_scores(case: Case) -> FileEdits:
    """The relu at the fault's line taken away, whose result goes on to `log_softmax`."""
    found = case.code.statement_at(case.site)
    if found is None:
        return ()
    file, statement = found
    calls = list(file.calls("relu", "relu_", "ReLU", inside=statement))
    if len(calls) != 1:
        return ()
    call, holder = calls[0], file.parent(calls[0])
    if last_name(call.func) == "ReLU":
        is_layer = isinstance(holder, ast.Call) and last_name(holder.func) == "Sequential"
        return delete_argument(file, holder, call) if is_layer and isinstance(holder, ast.Call) else ()
    return call_removed(file, call, value_of(file, call))


_YES_NO = ("binary_cross_entropy",)
_BY_VALUE = ("binary_cross_entropy", *DISTANCES)


_example = partial(example, model="nn.Linear(2, 3)", criterion="nn.BCELoss()")


class ExchangeOutputActivation(
    Repair, code="R214", cures=("ACT-OUT-WRONG", "ACT-OUT-MISSING", "LYR-SOFTMAX-MISSING", "ACT-DIM")
):
    """Put the activation that the loss is made for in the place of the one after the last layer.

    Sigmoid for yes/no answers of one unit or of several labels, log-softmax for a likelihood of classes. Probabilities stay
    probabilities, so nothing else has to change.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        head = head_of(case)
        if head is None:
            return
        old, new = self._exchange(head)
        if not new:
            return
        if old == "clamp":
            applied = clamp_at(case, last_layer(case, head), head.loss.called)
        else:
            applied = applied_at(case, head, old)
        if applied is not None:
            edits = exchanged(case, applied, new)
            yield from self.change(case, f"{new} instead of {old}", edits, knob="output activation")

    @staticmethod
    def _exchange(head: Head) -> tuple[str, str]:
        """The function to replace and the one to put there."""
        given, target, criterion = head.given, head.target, head.loss.criterion
        if head.last == "softmax" and criterion in ("nll_loss", "kl_div"):
            return "softmax", "log_softmax"
        if head.last == "softmax" and criterion in _BY_VALUE and target is not None:
            lone = head.width == 1 or len(given.shape) == 1
            exclusive = head.class_axis in target.normalised_axes
            if lone or (target.shape == given.shape and not exclusive and target.integral):
                return "softmax", "sigmoid"
        if criterion in _YES_NO and head.last == "clamp" and head.activation in ("relu", "tanh", "hardtanh"):
            return head.activation, "sigmoid"  # the clamp only keeps it off 0 and 1
        if criterion in _YES_NO and head.last in ("clamp", "relu", "tanh", "hardtanh"):
            return head.last, "sigmoid"
        return "", ""

    EXAMPLES = {
        "softmax over one unit": _example(
            model="nn.Sequential(nn.Linear(2, 1), nn.⟨Softmax(dim=1) → Sigmoid()⟩)",
            loss="criterion(model(torch.randn(8, 2)), torch.ones(8, 1))",
        ),
        "probabilities where their logarithms are expected": _example(
            criterion="",
            outputs="p = F.⟨softmax → log_softmax⟩(model(torch.randn(8, 2)), dim=1)",
            loss="F.nll_loss(p, torch.zeros(8, dtype=torch.long))",
        ),
        "scores cut to 0..1 for a loss on probabilities": _example(
            layers="self.fc = nn.Linear(2, 1)",
            forward="x = self.fc(x)\nreturn x.⟨clamp(1e-6, 1 - 1e-6) → sigmoid()⟩.squeeze(1)",
            loss="criterion(model(torch.randn(8, 2)), torch.ones(8))",
            cause="ACT-OUT-MISSING",
        ),
        "softmax over classes stays": _example(
            criterion="",
            loss="F.mse_loss(⟨F.softmax(model(torch.randn(8, 2)), dim=1)⟩, torch.eye(3)[[0, 1, 2, 0, 1, 2, 0, 1]])",
        ),
    }
