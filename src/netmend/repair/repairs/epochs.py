"""R407."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from netmend.changes.case import Case
from netmend.changes.loop.epoch_loop import Rounds, epoch_rounds
from netmend.diagnose.detectors.training_length import StillFalling
from netmend.program.source.numbers import number, set_number
from netmend.program.source.writing import replace
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import BUDGET, Change

_example = partial(example, optimizer="torch.optim.SGD(model.parameters(), lr=0.01)")


@register
@dataclass(frozen=True)
class Epochs:
    """Train longer, or stop earlier.

    A loss that still falls steeply at the end goes on falling; it costs the time of the longer training. Where evaluation
    was best early, the run ends about there.
    """

    code: ClassVar[str] = "R407"
    cures: ClassVar[tuple[str, ...]] = ("HYP-EPOCH-FEW", "HYP-EPOCH-MANY")
    effort: ClassVar[int] = BUDGET
    explores: ClassVar[bool] = True  # but only where the loss still falls

    few: int = 5  # rounds: that few are not only doubled

    def propose(self, case: Case) -> Iterator[Change]:
        rounds = epoch_rounds(case)
        if rounds is None or (case.fault is None and not any(StillFalling().examine(case.trace))):
            return
        present = number(case.code, rounds.file, rounds.count, case.arguments)
        whole = None if present is None or present - rounds.start < 1 else round(present) - rounds.start
        many = case.cause == "HYP-EPOCH-MANY"
        for factor in self._earlier(case, whole) if many else self._longer(case, whole):
            if whole is None:
                yield from self._multiplied(case, rounds, factor)
                continue
            wanted = max(1, round(whole * factor))
            if wanted != whole:
                text = str(wanted + rounds.start)
                faces = set_number(case.code, rounds.file, rounds.count, text, case.arguments)
                title = f"{whole} → {wanted} epochs"
                yield from change(self, case, title, faces, knob="epochs", cost=wanted / whole)

    def _longer(self, case: Case, present: int | None) -> list[float]:
        """Far more where too few are told: how many are enough is often a matter of tens."""
        if case.fault is None:
            return [4.0, 8.0] if present is not None and present <= self.few else [2.0, 4.0]
        return [4.0, 10.0, 30.0] if present is not None and present <= self.few else [3.0, 10.0, 30.0]

    def _earlier(self, case: Case, present: int | None) -> list[float]:
        """Shortly behind the best evaluation, else half and a quarter."""
        best: float | None = None
        for table in case.trace.tables_of("evaluation"):
            steps, losses = table.known("loss")
            if len(losses) >= 4 and np.isfinite(losses).all() and steps[-1] > 0:
                best = float(steps[int(np.argmin(losses))]) / float(steps[-1])
        if best is None or best >= 0.9:
            return [0.5, 0.25]
        if present is not None:
            best = math.ceil(best * present) / present
        return list(dict.fromkeys((max(best, 0.02), 0.5 if best < 0.35 else best / 2)))

    def _multiplied(self, case: Case, rounds: Rounds, factor: float) -> Iterator[Change]:
        """The number is not known: the expression times the factor."""
        text = rounds.file.source(rounds.count)
        if not isinstance(rounds.count, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            text = f"({text})"
        text = f"{text} * {factor:g}" if factor > 1 else f"max(1, {text} // {round(1 / factor)})"
        edits = replace(rounds.file, rounds.count, text)
        yield from change(self, case, f"train {factor:g} times as long", edits, knob="epochs", cost=factor)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a constant",
            data="EPOCHS = ⟨2 → 8⟩",
            setup="""
                def train_epoch():
                    for x, y in [(torch.ones(4, 2), torch.ones(4, 1))]:
                        optimizer.zero_grad()
                        nn.functional.mse_loss(model(x), y).backward()
                        optimizer.step()""",
            loop="⟨for epoch in range(1, EPOCHS + 1)⟩",
            step="train_epoch()",
        ),
        example(
            "an argument of a trainer",
            """
                class Trainer:
                    def __init__(self, model):
                        self.model, self.opt = model, torch.optim.SGD(model.parameters(), lr=0.01)
                    def fit(self, epochs=10):
                        self.model.train()
                        ⟨for epoch in range(epochs)⟩:
                            self.train(torch.ones(4, 2), torch.ones(4, 1))
                    def train(self, x, y):
                        self.opt.zero_grad()
                        nn.functional.mse_loss(self.model(x), y).backward()
                        self.opt.step()
                Trainer(nn.Linear(2, 1)).fit(epochs=⟨6 → 18⟩)""",
        ),
        _example(
            "a loop over steps that is left",
            setup="""
                step, limit = 0, ⟨20 → 60⟩
                ⟨while True⟩:
                    optimizer.zero_grad()
                    nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1)).backward()
                    optimizer.step()
                    step += 1
                    if step >= limit:
                        break""",
        ),
        example(
            "too many: half of them where no evaluation tells more; trials are not epochs",
            """
                for trial in range(2):
                    model = nn.Linear(2, 1)
                    opt = torch.optim.SGD(model.parameters(), lr=0.01)
                    for epoch in range(⟨30 → 15⟩):
                        opt.zero_grad()
                        nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1)).backward()
                        opt.step()""",
            cause="HYP-EPOCH-MANY",
        ),
        _example(
            "nothing without a fault when the loss is down",
            optimizer="torch.optim.SGD(model.parameters(), lr=0.1)",
            loop="for epoch in range(30)",
            backward="nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))",
        ),
    )
