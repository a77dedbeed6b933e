"""R211."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loss.losses import Criterion, arguments, criterion_of
from netmend.changes.network.output_uses import once
from netmend.diagnose.measures.batches import label_counts, training_loader
from netmend.program.source.dataflow import resolved
from netmend.program.source.naming import spelled
from netmend.program.source.writing import add_argument, replace
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import LossFact, TargetFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_example = partial(example, model="nn.Linear(2, 2)")


@register
@dataclass(frozen=True)
class ClassWeights:
    """Weight the classes in the loss by how rare they are.

    As many times as a class is rarer, as much more each of its samples counts; with the square root as a milder form. Rare classes
    are found more often then, and frequent ones are missed more often: the accuracy over all samples may fall.
    """

    code: ClassVar[str] = "R211"
    cures: ClassVar[tuple[str, ...]] = ("DAT-IMBALANCE",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    most_classes: int = 30  # longer lists of weights nobody writes down
    least_ratio: float = 1.5  # of the most frequent to the rarest class, from which weights make a difference

    def propose(self, case: Case) -> Iterator[Change]:
        loss = case.loss
        criterion = None if loss is None else criterion_of(case, loss)
        if loss is None or criterion is None:
            return
        counts = self._counts(case, loss)
        if len(counts) < 2 or max(counts.values()) < self.least_ratio * min(counts.values()):
            return
        places = [criterion.created] if criterion.created is not None else list(criterion.calls)
        for power, how in ((1.0, "by how rare it is"), (0.5, "by the root of how rare it is")):
            edits: FileEdits = ()
            for file, call in places:
                edits = (*edits, *self._weighted(case, file, call, criterion.kind, counts, power))
            yield from change(self, case, f"weight each class {how}", once(edits), knob="class weights")
        if criterion.kind == "binary_cross_entropy":  # its weights belong to samples, not to classes
            yield from change(self, case, "draw classes equally often", self._drawn(case), knob="sampler")
            for power, how in ((1.0, "how rare"), (0.5, "the root of how rare")):
                edits = self._by_sample(criterion, counts, power)
                yield from change(
                    self, case, f"weight samples by {how} their class is", edits, knob="class weights"
                )

    @staticmethod
    def _counts(case: Case, loss: LossFact) -> Mapping[int, int]:
        """Samples per class, with the classes from 0 on."""
        target = case.trace.get(TargetFact, loss.name)
        found = (
            target.class_counts if target is not None and target.class_counts else label_counts(case.trace)
        )
        counts = {int(float(label)): count for label, count in found.items() if float(label) >= 0}
        return counts if min(counts, default=1) == 0 else {}

    def _weighted(
        self, case: Case, file: File, call: ast.Call, kind: str, counts: Mapping[int, int], power: float
    ) -> FileEdits:
        if any(keyword.arg in ("weight", "pos_weight") or keyword.arg is None for keyword in call.keywords):
            return ()
        tensor, extra = spelled(file, "torch.tensor")
        device = case.model.device if case.model is not None else ""
        where = f', device="{device}"' if device.startswith("cuda") else ""
        if kind == "binary_cross_entropy_with_logits" and set(counts) == {0, 1}:
            ratio = (counts[0] / counts[1]) ** power
            return (*add_argument(file, call, f"pos_weight={tensor}({_written(ratio)}{where})"), *extra)
        if kind not in ("cross_entropy", "nll_loss") or max(counts) >= self.most_classes:
            return ()
        width = self._width(case, max(counts) + 1)
        mean = sum(counts.values()) / len(counts)
        numbers = [(mean / counts[label]) ** power if label in counts else 1.0 for label in range(width)]
        text = ", ".join(_written(number) for number in numbers)
        return (*add_argument(file, call, f"weight={tensor}([{text}]{where})"), *extra)

    @staticmethod
    def _by_sample(criterion: Criterion, counts: Mapping[int, int], power: float) -> FileEdits:
        """`bce(p, y)` → `F.binary_cross_entropy(p, y, weight=1 + 18.0 * y)`, where it is trained with."""
        if set(counts) != {0, 1} or counts[0] <= counts[1] or not criterion.calls:
            return ()
        file, call = criterion.calls[0]
        pair = arguments(call)
        made = criterion.created[1] if criterion.created is not None else call
        if pair is None or not isinstance(pair[1], ast.Name | ast.Attribute | ast.Subscript):
            return ()
        if any(keyword.arg not in ("input", "target") for keyword in made.keywords):
            return ()
        weight = f"weight=1 + {_written((counts[0] / counts[1]) ** power - 1)} * {file.source(pair[1])}"
        if criterion.created is None:
            return add_argument(file, call, weight)
        name, extra = spelled(file, "torch.nn.functional.binary_cross_entropy")
        return (*replace(file, call.func, name), *add_argument(file, call, weight), *extra)

    @staticmethod
    def _drawn(case: Case) -> FileEdits:
        """A sampler in the place of shuffling, where the loader's targets are at hand."""
        loader = training_loader(case.trace)
        found = None if loader is None else case.code.call_at(loader.created)
        if found is None or not found[1].args:
            return ()
        file, call = found
        data = resolved(file, call.args[0])
        shuffle = next((keyword for keyword in call.keywords if keyword.arg == "shuffle"), None)
        if not isinstance(data, ast.Call) or last_name(data.func) != "TensorDataset" or shuffle is None:
            return ()
        target = data.args[-1] if data.args else None
        if not isinstance(target, ast.Name | ast.Attribute | ast.Subscript) or len(data.args) < 2:
            return ()
        sampler, extra = spelled(file, "torch.utils.data.WeightedRandomSampler", like=call.func)
        bincount, more = spelled(file, "torch.bincount")
        text = file.source(target)
        ids = f"{text}.long().view(-1)"
        given = f"sampler={sampler}((1.0 / {bincount}({ids}))[{ids}], len({text}))"
        return (*replace(file, shuffle, given), *extra, *more)

    @staticmethod
    def _width(case: Case, seen: int) -> int:
        loss = case.loss
        given = (
            next((o.shape for o in loss.operands if o.role == "prediction"), ()) if loss is not None else ()
        )
        return given[1] if len(given) > 1 and given[1] >= seen else seen

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "several classes",
            criterion="nn.CrossEntropyLoss(⟨ → weight=torch.tensor([0.667, 2.0])⟩)",
            loss="criterion(model(torch.randn(4, 2)), torch.tensor([0, 0, 0, 1]))",
        ),
        _example(
            "yes or no, the milder form",
            model="nn.Linear(2, 1)",
            setup="y = torch.tensor([[0.0], [0.0], [0.0], [0.0], [1.0]])",
            loss="F.binary_cross_entropy_with_logits(model(torch.randn(5, 2)), ⟨y → y, pos_weight=torch.tensor(2.0)⟩)",
            nth=1,
        ),
        example(
            "a loss on probabilities: the samples are drawn evenly",
            """
                import torch
                from torch import nn
                from torch.utils.data import DataLoader, ⟨TensorDataset → TensorDataset, WeightedRandomSampler⟩
                x, y = torch.randn(8, 2), torch.tensor([[0.0]] * 7 + [[1.0]])
                data = TensorDataset(x, y)
                loader = DataLoader(data, batch_size=4, ⟨shuffle=True → sampler=WeightedRandomSampler((1.0 / torch.bincount(y.long().view(-1)))[y.long().view(-1)], len(y))⟩)
                model = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
                criterion = nn.BCELoss()
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for xb, yb in loader:
                    optimizer.zero_grad()
                    loss = criterion(model(xb), yb)
                    loss.backward()
                    optimizer.step()""",
            mark="nn.BCELoss",
        ),
        _example(
            "classes that are about equally frequent",
            criterion="⟨nn.CrossEntropyLoss()⟩",
            loss="criterion(model(torch.randn(4, 2)), torch.tensor([0, 0, 1, 1]))",
        ),
        _example(
            "a loss on probabilities, and no loader",
            imports="import torch.nn.functional as F",
            data="x, y = torch.randn(8, 2), torch.tensor([[0.0]] * 6 + [[1.0]] * 2)",
            model="nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())",
            criterion="⟨nn.BCELoss()⟩",
            loss="⟨criterion(model(x), y) → F.binary_cross_entropy(model(x), y, weight=1 + 2.0 * y)⟩",
        ),
    )


def _written(number: float) -> str:
    """A real number as Python reads it back."""
    text = f"{number:.3g}"
    return text if "." in text or "e" in text else f"{text}.0"
