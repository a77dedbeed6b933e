"""Repairs of how much parts of the loss count: classes, labels, penalties on the weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loss.losses import Criterion, arguments, criterion_of
from netmend.changes.loss.penalties import Penalty, penalties, penalty_factors, penalty_terms
from netmend.diagnose.measures.batches import label_counts, training_loader
from netmend.program.source.dataflow import resolved
from netmend.program.source.naming import spelled
from netmend.program.source.numbers import number
from netmend.program.source.values import Faces, set_argument, set_value
from netmend.program.source.writing import add_argument, once, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import LossFact, OptimizerFact, TargetFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change, FileEdits

_classes_example = partial(example, model="nn.Linear(2, 2)")


class ClassWeights(Repair, code="R211", cures=("DAT-IMBALANCE",), effort=BY_FACTS):
    """Weight the classes in the loss by how rare they are.

    As many times as a class is rarer, as much more each of its samples counts; with the square root as a milder form. Rare classes
    are found more often then, and frequent ones are missed more often: the accuracy over all samples may fall.
    """

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
            yield from self.change(case, f"weight each class {how}", once(edits), knob="class weights")
        if criterion.kind == "binary_cross_entropy":  # its weights belong to samples, not to classes
            yield from self.change(case, "draw classes equally often", self._drawn(case), knob="sampler")
            for power, how in ((1.0, "how rare"), (0.5, "the root of how rare")):
                edits = self._by_sample(criterion, counts, power)
                yield from self.change(
                    case, f"weight samples by {how} their class is", edits, knob="class weights"
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

    EXAMPLES = {
        "several classes": _classes_example(
            criterion="nn.CrossEntropyLoss(⟨ → weight=torch.tensor([0.667, 2.0])⟩)",
            loss="criterion(model(torch.randn(4, 2)), torch.tensor([0, 0, 0, 1]))",
        ),
        "yes or no, the milder form": _classes_example(
            model="nn.Linear(2, 1)",
            setup="y = torch.tensor([[0.0], [0.0], [0.0], [0.0], [1.0]])",
            loss="F.binary_cross_entropy_with_logits(model(torch.randn(5, 2)), ⟨y → y, pos_weight=torch.tensor(2.0)⟩)",
            nth=1,
        ),
        "a loss on probabilities: the samples are drawn evenly": example(
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
        "classes that are about equally frequent": _classes_example(
            criterion="⟨nn.CrossEntropyLoss()⟩",
            loss="criterion(model(torch.randn(4, 2)), torch.tensor([0, 0, 1, 1]))",
        ),
        "a loss on probabilities, and no loader": _classes_example(
            imports="import torch.nn.functional as F",
            data="x, y = torch.randn(8, 2), torch.tensor([[0.0]] * 6 + [[1.0]] * 2)",
            model="nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())",
            criterion="⟨nn.BCELoss()⟩",
            loss="⟨criterion(model(x), y) → F.binary_cross_entropy(model(x), y, weight=1 + 2.0 * y)⟩",
        ),
    }


def _written(number: float) -> str:
    """A real number as Python reads it back."""
    text = f"{number:.3g}"
    return text if "." in text or "e" in text else f"{text}.0"


_penalty_example = partial(example, loss="model(torch.randn(8, 2)).pow(2).mean()")


class Regularisation(
    Repair,
    code="R213",
    cures=("LOS-REG-EXTRA", "LOS-REG-MISSING", "LOS-REG-KIND"),
    effort=SHORT_SEARCH,
    explores=True,
):
    """Make the penalty on the weights weaker or take it away; or add weight decay where nothing holds the network back.

    A penalty that outweighs the data pulls all weights to zero: a hundredth of it, or none. Against overfitting, a weight decay
    of 1e-4, then 1e-2.
    """

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
        named = case.trace.get(OptimizerFact, case.component)
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
        if any(
            (number(case.code, *found, case.arguments) or 0.0) >= self.heavy
            for found in penalty_factors(case)
        ):
            yield from list(self._factor(case))[:1]

    def _decay(self, case: Case, optimizer: OptimizerFact, old: float, new: str) -> Iterator[Change]:
        faces = self._in_group(case, optimizer, old, new) or set_argument(
            case.code, optimizer.created, "weight_decay", new, None, case.arguments
        )
        title = f"weight decay {old:g} → {new}"
        yield from self.change(case, title, faces, knob=f"{optimizer.name}.weight_decay")

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
                if named and number(case.code, file, value, case.arguments) == old:
                    return set_value(case.code, file, value, new, case.arguments)
        return None

    def _factor(self, case: Case) -> Iterator[Change]:
        """The number that a penalty in the loss is multiplied with."""
        for file, node in penalty_factors(case):
            origin = number(case.code, file, node, case.arguments)
            if origin is None or origin <= 0:
                continue
            weak = min(origin / 100, self.usual)
            for new in (weak, weak / 10, 0.0):
                faces = set_value(case.code, file, node, f"{new:.2g}", case.arguments)
                title = f"penalty {origin:g} → {new:.2g}"
                yield from self.change(case, title, faces, knob="penalty on the weights")
            return
        found = penalty_terms(case)
        if found:
            yield from self._terms(case, found)
            return
        for file, penalty in penalties(case):
            edits = wrap(file, penalty, "1e-4 * ", "")
            yield from self.change(case, "penalty × 1e-4", edits, knob="penalty on the weights")
            return

    def _terms(self, case: Case, found: list[Penalty]) -> Iterator[Change]:
        """Summands that measure weights: a lower factor, a small one before them, or without."""
        knob = "penalty on the weights"
        if len(found) == 1:
            file, term = found[0].file, found[0].term
            sides = (term.left, term.right) if isinstance(term, ast.BinOp) else ()
            for side in sides if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult) else ():
                value = number(case.code, file, side, case.arguments)
                if value is not None and value > 0:
                    weak = min(value / 100, self.usual)
                    faces = set_value(case.code, file, side, f"{weak:.2g}", case.arguments)
                    yield from self.change(case, f"penalty {value:g} → {weak:.2g}", faces, knob=knob)
        edits = tuple(edit for one in found for edit in wrap(one.file, one.term, "1e-4 * ", ""))
        if len(found) > 1 or not isinstance(found[0].term, ast.BinOp):
            yield from self.change(case, "penalty × 1e-4", edits, knob=knob)
        if len(found) == 1:
            yield from self.change(case, "no penalty on the weights", found[0].removal, knob=knob)

    EXAMPLES = {
        "a weight decay of one": _penalty_example(
            optimizer="torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=⟨1.0 → 0.0001⟩)"
        ),
        "a penalty in the loss": _penalty_example(
            data="STRENGTH = ⟨0.5 → 0.0001⟩",
            loss="model(torch.randn(8, 2)).pow(2).mean() + STRENGTH * sum(p.abs().sum() for p in model.parameters())",
        ),
        "a penalty that is added up, with the number where it is used": _penalty_example(
            setup="""
                def size(model):
                    total = 0.0
                    for p in model.parameters():
                        ⟨total = total + p.pow(2).sum()⟩
                    return total""",
            outputs="fit = model(torch.randn(8, 2)).pow(2).mean()",
            loss="fit + ⟨10 → 0.0001⟩ * size(model)",
        ),
        "nothing against overfitting": _penalty_example(
            optimizer="torch.optim.Adam(model.parameters(), lr=⟨0.1 → 0.1, weight_decay=1e-4⟩)",
            cause="LOS-REG-MISSING",
        ),
        "there is no penalty": _penalty_example(
            optimizer="torch.optim.Adam(model.parameters(), lr=0.1)", mark="loss = "
        ),
        "a penalty of single layers, by a function": _penalty_example(
            model="nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))",
            helpers="def size(layer):\n    return layer.weight.abs().sum()",
            after_loss="loss += ⟨0.5 → 0.0001⟩ * size(model[0])",
        ),
        "a penalty without a factor is taken out of the sum": _penalty_example(
            outputs="""
                fit = model(torch.randn(8, 2)).pow(2).mean()
                size = model.weight.norm(2) + model.bias.norm(2)""",
            loss="⟨fit + size → fit⟩",
            nth=1,
        ),
    }


_example = partial(
    example,
    model="nn.Linear(2, 3)",
    loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
)


class LabelSmoothing(Repair, code="R217", cures=("LOS-SMOOTH",), effort=BY_FACTS):
    """Smooth labels by the usual tenth, or not at all.

    With more than half of each target given away, the network is not asked to tell classes apart.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        loss = case.loss
        if loss is None or not loss.settings.get("label_smoothing"):
            return
        site = loss.created or loss.called
        for share in ("0.1", "0.0"):
            faces = set_argument(case.code, site, "label_smoothing", share, None, case.arguments)
            title = f"label smoothing {loss.settings['label_smoothing']:g} → {float(share):g}"
            yield from self.change(case, title, faces, knob="label smoothing")

    EXAMPLES = {
        "a literal": _example(criterion="nn.CrossEntropyLoss(label_smoothing=⟨0.9 → 0.1⟩)"),
        "a constant": _example(
            data="SMOOTHING = ⟨0.8 → 0.1⟩", criterion="nn.CrossEntropyLoss(label_smoothing=SMOOTHING)"
        ),
        "no smoothing: nothing to change": _example(criterion="nn.CrossEntropyLoss()", mark="criterion = "),
    }
