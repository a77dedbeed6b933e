"""R403."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.rate_places import set_setting
from netmend.library.optimisers import OPTIMISERS
from netmend.program.source.numbers import literal, set_number
from netmend.program.source.values import Faces
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import OptimizerFact
from netmend.vocabulary.change import BY_FACTS, Change

_EPSILON = {each.name: each.epsilon for each in OPTIMISERS}
_EPSILON_POSITION = {"Adagrad": 5}
_MOMENTUM_POSITION = {"SGD": 2, "RMSprop": 5}


_example = partial(example, backward="nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))")


@register
@dataclass(frozen=True)
class OptimizerSettings:
    """Give the optimiser its usual momentum, betas or epsilon.

    Momentum 0.9, betas (0.9, 0.999) and an epsilon of 1e-8 suit nearly every training. A momentum close to 1 keeps steps
    running in old directions; an epsilon as large as the gradients takes Adam's scaling away.
    """

    code: ClassVar[str] = "R403"
    cures: ClassVar[tuple[str, ...]] = ("OPT-MOMENTUM", "OPT-EPS")
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    high: float = 0.95  # momentum above which it is changed
    low_beta: float = 0.9  # second beta below which it is changed

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = case.optimizer
        if optimizer is None or not optimizer.groups:
            return
        settings = optimizer.groups[0].settings
        epsilon = settings.get("eps")
        if case.cause == "OPT-EPS":
            if isinstance(epsilon, int | float):
                yield from self._epsilon(case, optimizer, float(epsilon))
            return
        momentum, betas = settings.get("momentum"), settings.get("betas")
        if isinstance(momentum, int | float) and (momentum > self.high or momentum < 0):
            position = _MOMENTUM_POSITION.get(optimizer.kind)
            faces = set_setting(case, optimizer.created, "momentum", "0.9", position)
            yield from change(
                self, case, f"momentum {momentum:g} → 0.9", faces, knob=f"{optimizer.name}.momentum"
            )
        if isinstance(betas, list | tuple) and len(betas) == 2:
            first, second = float(betas[0]), float(betas[1])
            odd = [index for index, wrong in enumerate((first > self.high, second < self.low_beta)) if wrong]
            faces = self._betas(case, optimizer, odd) if odd else Faces()
            title = f"betas ({first:g}, {second:g}) → usual ones"
            yield from change(self, case, title, faces, knob=f"{optimizer.name}.betas")

    def _epsilon(self, case: Case, optimizer: OptimizerFact, present: float) -> Iterator[Change]:
        good = _EPSILON.get(optimizer.kind, "1e-8")
        position = _EPSILON_POSITION.get(optimizer.kind, 3)
        if float(good) / 100 <= present <= 100 * float(good):
            return
        faces = set_setting(case, optimizer.created, "eps", good, position)
        yield from change(self, case, f"epsilon {present:g} → {good}", faces, knob=f"{optimizer.name}.eps")

    def _betas(self, case: Case, optimizer: OptimizerFact, odd: list[int]) -> Faces:
        """The odd one alone where it is written by itself."""
        found = case.code.call_at(optimizer.created)
        value = None if found is None else case.code.sources.argument(found[1], "betas", 2)
        if found is not None and isinstance(value, ast.Tuple) and len(value.elts) == 2 and len(odd) == 1:
            part = value.elts[odd[0]]
            if literal(part) is not None or isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                return set_number(case.code, found[0], part, ("0.9", "0.999")[odd[0]], case.arguments)
        return set_setting(case, optimizer.created, "betas", "(0.9, 0.999)", 2)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "momentum close to one, from a dictionary",
            data='HP = {"lr": 0.02, "momentum": ⟨0.999 → 0.9⟩, "epochs": 3}',
            optimizer='⟨torch.optim.SGD(model.parameters(), lr=HP["lr"], momentum=HP["momentum"])⟩',
            loop='for step in range(HP["epochs"])',
        ),
        _example("given by position", optimizer="torch.optim.SGD(model.parameters(), 0.01, ⟨0.995 → 0.9⟩)"),
        _example(
            "the first beta",
            optimizer="torch.optim.Adam(model.parameters(), lr=1e-3, betas=(⟨0.999 → 0.9⟩, 0.999))",
        ),
        _example(
            "a large epsilon",
            optimizer="torch.optim.Adam(model.parameters(), lr=1e-3, eps=⟨10.0 → 1e-8⟩)",
            cause="OPT-EPS",
        ),
        _example(
            "usual settings stay",
            optimizer="⟨torch.optim.Adam(model.parameters(), lr=1e-3)⟩",
            cause="OPT-EPS",
        ),
    )
