"""R213."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loss.penalties import penalties, penalty_factors, value_of
from netmend.changes.loss.penalty_terms import Penalty, penalty_terms
from netmend.program.source.dataflow import resolved
from netmend.program.source.values import Faces, set_argument, set_value
from netmend.program.source.writing import wrap
from netmend.program.text.queries import inside
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import OptimizerFact
from netmend.vocabulary.change import SHORT_SEARCH, Change

_example = partial(example, loss="model(torch.randn(8, 2)).pow(2).mean()")


@register
@dataclass(frozen=True)
class Regularisation:
    """Make the penalty on the weights weaker or take it away; or add weight decay where nothing holds the network back.

    A penalty that outweighs the data pulls all weights to zero: a hundredth of it, or none. Against overfitting, a weight decay
    of 1e-4, then 1e-2.
    """

    code: ClassVar[str] = "R213"
    cures: ClassVar[tuple[str, ...]] = ("LOS-REG-EXTRA", "LOS-REG-MISSING", "LOS-REG-KIND")
    effort: ClassVar[int] = SHORT_SEARCH
    explores: ClassVar[bool] = True

    usual: float = 1e-4  # factor of a penalty in the loss
    heavy: float = 1e-2  # factor of a penalty that is worth a trial without
    strong: float = 1e-3  # a weight decay that is no reason to lower it

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = case.optimizer
        decay = optimizer.groups[0].settings.get("weight_decay") if optimizer and optimizer.groups else None
        if case.cause == "LOS-REG-MISSING":
            for value in ("1e-4", "1e-2"):
                if optimizer is not None and isinstance(decay, int | float) and decay < float(value):
                    yield from self._decay(case, optimizer, float(decay), value)
            return
        if case.fault is None:
            yield from self._suspicious(case)
            return
        named = case.trace.get(OptimizerFact, case.fault.component)
        if (
            optimizer is not None
            and isinstance(decay, int | float)
            and (named or decay >= self.strong)
            and decay > 0
        ):
            usual = 1e-2 if optimizer.kind == "AdamW" else 1e-4
            for number in dict.fromkeys((min(decay / 100, usual), 0.0)):
                yield from self._decay(case, optimizer, float(decay), f"{number:g}")
        elif named is None:
            yield from self._factor(case)

    def _suspicious(self, case: Case) -> Iterator[Change]:
        """Without a fault that calls for it: only what hardly anybody sets on purpose."""
        optimizer = case.optimizer
        decay = optimizer.groups[0].settings.get("weight_decay") if optimizer and optimizer.groups else None
        if optimizer is not None and isinstance(decay, int | float):
            usual, limit = (1e-2, 0.2) if optimizer.kind == "AdamW" else (1e-4, 0.02)
            if decay >= limit:
                yield from self._decay(case, optimizer, float(decay), f"{usual:g}")
        if any((value_of(case, *found) or 0.0) >= self.heavy for found in penalty_factors(case)):
            yield from list(self._factor(case))[:1]

    def _decay(self, case: Case, optimizer: OptimizerFact, old: float, new: str) -> Iterator[Change]:
        faces = self._in_group(case, optimizer, old, new) or set_argument(
            case.code, optimizer.created, "weight_decay", new, None, case.arguments
        )
        title = f"weight decay {old:g} → {new}"
        yield from change(self, case, title, faces, knob=f"{optimizer.name}.weight_decay")

    @staticmethod
    def _in_group(case: Case, optimizer: OptimizerFact, old: float, new: str) -> Faces | None:
        """The decay of a group of parameters: `{"params": decayed, "weight_decay": 2.0}`."""
        found = case.code.call_at(optimizer.created)
        if found is None or not found[1].args:
            return None
        file, call = found
        for node in inside(resolved(file, call.args[0]), ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                named = isinstance(key, ast.Constant) and key.value == "weight_decay"
                if named and value_of(case, file, value) == old:
                    return set_value(case.code, file, value, new, case.arguments)
        return None

    def _factor(self, case: Case) -> Iterator[Change]:
        """The number that a penalty in the loss is multiplied with."""
        for file, node in penalty_factors(case):
            origin = value_of(case, file, node)
            if origin is None or origin <= 0:
                continue
            weak = min(origin / 100, self.usual)
            for new in (weak, weak / 10, 0.0):
                faces = set_value(case.code, file, node, f"{new:.2g}", case.arguments)
                title = f"penalty {origin:g} → {new:.2g}"
                yield from change(self, case, title, faces, knob="penalty on the weights")
            return
        found = penalty_terms(case)
        if found:
            yield from self._terms(case, found)
            return
        for file, penalty in penalties(case):
            edits = wrap(file, penalty, "1e-4 * ", "")
            yield from change(self, case, "penalty × 1e-4", edits, knob="penalty on the weights")
            return

    def _terms(self, case: Case, found: list[Penalty]) -> Iterator[Change]:
        """Summands that measure weights: a lower factor, a small one before them, or without."""
        knob = "penalty on the weights"
        if len(found) == 1:
            file, term = found[0].file, found[0].term
            sides = (term.left, term.right) if isinstance(term, ast.BinOp) else ()
            for side in sides if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult) else ():
                value = value_of(case, file, side)
                if value is not None and value > 0:
                    weak = min(value / 100, self.usual)
                    faces = set_value(case.code, file, side, f"{weak:.2g}", case.arguments)
                    yield from change(self, case, f"penalty {value:g} → {weak:.2g}", faces, knob=knob)
        edits = tuple(edit for one in found for edit in wrap(one.file, one.term, "1e-4 * ", ""))
        if len(found) > 1 or not isinstance(found[0].term, ast.BinOp):
            yield from change(self, case, "penalty × 1e-4", edits, knob=knob)
        if len(found) == 1:
            yield from change(self, case, "no penalty on the weights", found[0].removal, knob=knob)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a weight decay of one",
            optimizer="torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=⟨1.0 → 0.0001⟩)",
        ),
        _example(
            "a penalty in the loss",
            data="STRENGTH = ⟨0.5 → 0.0001⟩",
            loss="model(torch.randn(8, 2)).pow(2).mean() + STRENGTH * sum(p.abs().sum() for p in model.parameters())",
        ),
        _example(
            "a penalty that is added up, with the number where it is used",
            setup="""
                def size(model):
                    total = 0.0
                    for p in model.parameters():
                        ⟨total = total + p.pow(2).sum()⟩
                    return total""",
            outputs="fit = model(torch.randn(8, 2)).pow(2).mean()",
            loss="fit + ⟨10 → 0.0001⟩ * size(model)",
        ),
        _example(
            "nothing against overfitting",
            optimizer="torch.optim.Adam(model.parameters(), lr=⟨0.1 → 0.1, weight_decay=1e-4⟩)",
            cause="LOS-REG-MISSING",
        ),
        _example(
            "there is no penalty", optimizer="torch.optim.Adam(model.parameters(), lr=0.1)", mark="loss = "
        ),
        _example(
            "a penalty of single layers, by a function",
            model="nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))",
            helpers="def size(layer):\n    return layer.weight.abs().sum()",
            after_loss="loss += ⟨0.5 → 0.0001⟩ * size(model[0])",
        ),
        _example(
            "a penalty without a factor is taken out of the sum",
            outputs="""
                fit = model(torch.randn(8, 2)).pow(2).mean()
                size = model.weight.norm(2) + model.bias.norm(2)""",
            loss="⟨fit + size → fit⟩",
            nth=1,
        ),
    )
