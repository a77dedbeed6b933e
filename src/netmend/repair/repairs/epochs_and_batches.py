"""Repairs of how long and in what portions a program trains."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from netmend.changes.case import Case
from netmend.changes.loop.batch_places import loader_of, set_batch_size
from netmend.changes.loop.epoch_loop import epoch_rounds, more_rounds
from netmend.diagnose.detectors.training_length import StillFalling
from netmend.diagnose.measures.batches import batch_size, training_samples
from netmend.program.counted_loops import Rounds
from netmend.program.source.numbers import number
from netmend.program.source.values import Faces, joined, set_value
from netmend.program.source.writing import replace
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import BUDGET, SHORT_SEARCH, Change

_epochs_example = partial(example, optimizer="torch.optim.SGD(model.parameters(), lr=0.01)")


class Epochs(
    Repair,
    code="R407",
    cures=("HYP-EPOCH-FEW", "HYP-EPOCH-MANY"),
    knob="epochs",
    effort=BUDGET,
    explores=True,  # but only where the loss still falls
):
    """Train longer, or stop earlier.

    A loss that still falls steeply at the end goes on falling; it costs the time of the longer training. Where evaluation
    was best early, the run ends about there.
    """

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
                faces = set_value(case.code, rounds.file, rounds.count, text, case.arguments)
                title = f"{whole} → {wanted} epochs"
                yield from self.change(case, title, faces, cost=wanted / whole)

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
        yield from self.change(case, f"train {factor:g} times as long", edits, cost=factor)

    EXAMPLES = {
        "a constant": _epochs_example(
            data="EPOCHS = ⟨2 → 8⟩",
            setup="""
                def train_epoch():
                    for x, y in [(torch.ones(4, 2), torch.ones(4, 1))]:
                        optimizer ← nn.functional.mse_loss(model(x), y)""",
            loop="⟨for epoch in range(1, EPOCHS + 1)⟩",
            step="train_epoch()",
        ),
        "an argument of a trainer": example("""
                class Trainer:
                    def __init__(self, model):
                        self.model, self.opt = model, torch.optim.SGD(model.parameters(), lr=0.01)
                    def fit(self, epochs=10):
                        self.model.train()
                        ⟨for epoch in range(epochs)⟩:
                            self.train(torch.ones(4, 2), torch.ones(4, 1))
                    def train(self, x, y):
                        self.opt ← nn.functional.mse_loss(self.model(x), y)
                Trainer(nn.Linear(2, 1)).fit(epochs=⟨6 → 18⟩)"""),
        "a loop over steps that is left": _epochs_example(
            setup="""
                step, limit = 0, ⟨20 → 60⟩
                ⟨while True⟩:
                    optimizer ← nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))
                    step += 1
                    if step >= limit:
                        break"""
        ),
        "too many: half of them where no evaluation tells more; trials are not epochs": example(
            """
                for trial in range(2):
                    model = nn.Linear(2, 1)
                    opt = torch.optim.SGD(model.parameters(), lr=0.01)
                    for epoch in range(⟨30 → 15⟩):
                        opt ← nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))""",
            cause="HYP-EPOCH-MANY",
        ),
        "nothing without a fault when the loss is down": _epochs_example(
            optimizer="torch.optim.SGD(model.parameters(), lr=0.1)",
            loop="for epoch in range(30)",
            backward="nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))",
        ),
    }


_batch_example = partial(
    example,
    model="nn.Linear(3, 1)",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    backward="nn.functional.mse_loss(model(x), y)",
)


class BatchSize(
    Repair, code="R408", cures=("HYP-BATCH-SMALL", "HYP-BATCH-LARGE", "HYP-BATCH-NONE"), effort=SHORT_SEARCH
):
    """Cut batches of a usual size.

    Batches of one or two samples give noise, above all to batch normalisation; batches of nearly all samples leave hardly any
    updates. Sizes between 16 and 256 are tried, so that an epoch has some hundred updates where there are enough samples.
    """

    updates: int = 100  # in an epoch, about
    least_updates: int = 400  # in a run: with fewer of them, larger batches cost more than they give

    def propose(self, case: Case) -> Iterator[Change]:
        loader = loader_of(case)
        present = (None if loader is None else loader.batch_size) or batch_size(case.trace)
        if present is None:
            return
        for size in self._sizes(case, present):
            cost = 1.0 if size > present else min(3.0, math.sqrt(present / size))
            title, faces = f"batches of {present} → {size}", set_batch_size(case, size)
            more, longer = self._as_many_updates(case, present, size)
            if faces and longer and None in (faces.arguments, longer.arguments):
                title, cost = f"{title}; {more}", size / present
                faces = joined((faces, longer))
            yield from self.change(case, title, faces, knob="batch size", cost=cost)

    def _as_many_updates(self, case: Case, present: int, size: int) -> tuple[str, Faces]:
        """More rounds where larger batches leave hardly any updates."""
        left = case.trace.run.steps * present / size
        if size <= present or not left or left >= self.least_updates:
            return "", Faces()
        return more_rounds(case, min(size / present, self.least_updates / left))

    def _sizes(self, case: Case, present: int) -> list[int]:
        samples = training_samples(case.trace)
        if case.cause == "HYP-BATCH-SMALL":
            # Fewer updates are made with larger batches: both ends of what is usual.
            steps = case.trace.run.steps
            wanted = (32, 8) if steps * present >= 32 * self.least_updates else (8, 32)
            return [size for size in wanted if size > present and (samples is None or size <= samples // 4)]
        usual = 32 if samples is None else 2 ** round(math.log2(max(1.0, samples / self.updates)))
        first = min(max(usual, 16), 256)
        return [size for size in (first, 4 * first) if size < present]

    EXAMPLES = {
        "a loader with batches of two": _batch_example(
            data="""
                BATCH = ⟨2 → 8⟩
                data = TensorDataset(torch.randn(200, 3), torch.randn(200, 1))
                loader = ⟨DataLoader(data, batch_size=BATCH, shuffle=True)⟩""",
            loop="for x, y in loader",
        ),
        "no size is given": _batch_example(
            data="loader = DataLoader(TensorDataset(torch.randn(150, 3), torch.randn(150, 1)), shuffle=⟨True → True, batch_size=8⟩)",
            loop="for x, y in loader",
        ),
        "a run so long that larger batches leave enough updates": _batch_example(
            data="BATCH = ⟨2 → 32⟩\nx, y = torch.randn(200, 3), torch.randn(200, 1)",
            epochs="for epoch in range(65)",
            loop="⟨for i in range(0, len(x), BATCH)⟩",
            backward="nn.functional.mse_loss(model(x[i:i + BATCH]), y[i:i + BATCH])",
        ),
        "slices in a generator": _batch_example(
            data="""
                def batches(x, y, size):
                    order = torch.randperm(len(x))
                    for start in range(0, len(x), size):
                        chosen = order[start:start + size]
                        yield x[chosen], y[chosen]""",
            setup="inputs, targets = torch.randn(1000, 3), torch.randn(1000, 1)",
            epochs="for epoch in range(3)",
            loop="for x, y in batches(inputs, targets, ⟨500 → 16⟩)",
            cause="HYP-BATCH-LARGE",
        ),
        "a number that is written twice": _batch_example(
            setup="inputs, targets = torch.randn(60, 3), torch.randn(60, 1)",
            epochs="for epoch in range(⟨3 → 24⟩)",
            loop="for i in range(0, 60, ⟨1 → 8⟩)",
            backward="",
            step="""
                optimizer.zero_grad()
                nn.functional.mse_loss⟨(model(inputs[i:i + 1]), targets[i:i + 1]).backward() → (model(inputs[i:i + 8]), targets[i:i + 8]).backward()⟩
                optimizer.step()""",
            mark="for i in",
        ),
        "all samples at once: nothing to be set here": _batch_example(
            setup="inputs, targets = torch.randn(600, 3), torch.randn(600, 1)",
            loop="⟨for epoch in range(5)⟩",
            backward="nn.functional.mse_loss(model(inputs), targets)",
            cause="HYP-BATCH-NONE",
        ),
    }
