"""Repairs of how many units a layer has, and of how many outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loss.losses import criterion_of, exchange
from netmend.changes.network.heads_in_source import head_of, last_layer, model_calls
from netmend.changes.network.model_layers import (
    layers_of,
    model_of_fault,
    set_layer_width,
    takers,
    width_of_layer,
)
from netmend.changes.network.output_layer import (
    adds_one,
    classes_in_source,
    classes_of,
    reads_classes,
    set_width,
)
from netmend.changes.network.output_uses import scores_for_probabilities
from netmend.diagnose.measures.heads import Head
from netmend.library.losses import DISTANCES
from netmend.program.source.values import Faces, joined
from netmend.program.source.writing import once, united, wrap
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import BUDGET, BY_FACTS, Change

_layer_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 20)), torch.ones(4, 1))")


class LayerWidth(
    Repair, code="R312", cures=("LYR-UNITS", "ARC-STRUCT-SUBOPT"), effort=BY_FACTS, explores=True
):
    """Widen a layer that is far too narrow, together with the layers that take its output.

    All that later layers know of a sample has to fit through the narrowest one. First as wide as its neighbours, then
    four times that.
    """

    least: int = 32  # units that a small network has in its hidden layers
    most: int = 512
    tiny: int = 4  # so few are hardly ever meant, even if nothing was told

    def propose(self, case: Case) -> Iterator[Change]:
        narrow = self._narrow(case)
        if not narrow:
            return
        old = min(width_of_layer(layer) for layer in narrow)
        neighbours = [width_of_layer(layer) for layer in layers_of(case, narrow[0].model)[:-1]]
        neighbours.append(
            int(narrow[0].settings.get("in_features") or narrow[0].settings.get("in_channels") or 0)
        )
        first = min(max(self.least, *neighbours), self.most)
        widths = [width for width in (first, first * 4) if width <= max(self.most, first)]
        for width in widths if case.fault is not None else widths[:1]:
            faces = [set_layer_width(case, layer, width) for layer in narrow]
            if not all(faces):
                return
            title = f"{', '.join(layer.name for layer in narrow[:3])}: {old} → {width} units"
            effort = self.effort if case.fault is not None else BUDGET
            yield from self.change(
                case, title, joined(faces), knob=f"width of {narrow[0].name}", effort=effort
            )

    def _narrow(self, case: Case) -> list[ModuleFact]:
        """The layer that the fault names and all that are as narrow; without one, those that are tiny."""
        layers = layers_of(case, model_of_fault(case))
        hidden = [layer for layer in layers[:-1] if width_of_layer(layer) > 0 and layer.created is not None]
        named = next((la for la in hidden if la.name == case.component), None)
        if case.fault is not None and named is None and case.cause == "LYR-UNITS":
            return []
        limit = width_of_layer(named) if named is not None else self.tiny
        if named is None and case.fault is not None:
            limit = min((width_of_layer(layer) for layer in hidden), default=0)
        return [layer for layer in hidden if width_of_layer(layer) <= limit and takers(case, layer)]

    EXAMPLES = {
        "a literal, with the layer behind": _layer_example(
            model="nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, ⟨1), nn.ReLU(), nn.Linear(1 → 64), nn.ReLU(), nn.Linear(64⟩, 1))",
            component="model.2",
        ),
        "a default that both layers use": _layer_example(
            data="""
                def make(hidden=⟨2 → 32⟩):
                    return nn.Sequential(nn.Linear(20, hidden), nn.BatchNorm1d(hidden), nn.Tanh(), nn.Linear(hidden, 1))""",
            model="make()",
            component="model.0",
        ),
        "wide enough, without a fault": _layer_example(
            model="nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))"
        ),
    }


_REFUSED = re.compile(r"Target (-?\d+) is out of bounds|index (-?\d+) is out of bounds for dimension 1")


_output_example = partial(example, criterion="nn.CrossEntropyLoss()")


class OutputWidth(Repair, code="R209", cures=("LYR-OUT-SHAPE", "LOS-SELECT"), effort=BY_FACTS):
    """Give the last layer as many outputs as the targets need, or the loss that fits a single output.

    One output per class for cross entropy, one per target for real values; for two classes on a single output, binary
    cross entropy instead. The width is changed where its value is set.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        refused = _REFUSED.search(case.trace.run.exception or "")
        head = head_of(case)
        if refused is not None and case.cause == "LYR-OUT-SHAPE":
            yield from self._more_classes(case, int(refused[1] or refused[2]))
        elif head is not None and head.loss.criterion in ("cross_entropy", "nll_loss") and head.width == 1:
            yield from self._single(case, head)
        elif head is not None and head.loss.criterion in DISTANCES and case.cause == "LYR-OUT-SHAPE":
            target = head.target
            if target is not None and len(target.shape) == len(head.given.shape) >= 2:
                width = target.shape[head.class_axis]
                if width != head.width:
                    yield from self._wide(case, head, width)

    def _wide(self, case: Case, head: Head | None, width: int) -> Iterator[Change]:
        layer = last_layer(case, head)
        title = f"{width} outputs of {layer.name}" if layer is not None else f"{width} outputs"
        yield from self.change(case, title, set_width(case, head, width), knob="output width")

    def _more_classes(self, case: Case, label: int) -> Iterator[Change]:
        """A class id for which there is no output."""
        model = case.model
        width = (
            model.output_shapes[0][1] if model and model.output_shapes and model.output_shapes[0][1:] else 0
        )
        known = [n for n in classes_in_source(case) if label < n <= 1000] if label >= 0 else []
        widths = [self._wide(case, None, n) for n in dict.fromkeys([*sorted(known)[:1], label + 1]) if n > 0]
        shifted = self._from_zero(case) if label == width else iter(())
        options = [shifted, *widths[:2]] if adds_one(case) else [*widths[:2], shifted]
        for option in options:
            yield from option

    def _from_zero(self, case: Case) -> Iterator[Change]:
        """Class ids that begin at 1."""
        criterion = criterion_of(case, None)
        if criterion is not None:
            edits = united(wrap(pair.file, pair.target, "", " - 1") for pair in criterion.pairs)
            yield from self.change(case, "class ids from 0", edits, knob="class ids")

    def _single(self, case: Case, head: Head) -> Iterator[Change]:
        """Cross entropy over one output."""
        criterion = criterion_of(case, head.loss)
        classes = classes_of(case)
        if criterion is None or classes is None or classes < 2:
            return
        if classes == 2 and head.loss.criterion == "cross_entropy" and not reads_classes(case):
            loss = exchange(criterion, "binary_cross_entropy_with_logits")
            # What the program reads of a single output are scores from now on.
            readers = scores_for_probabilities(case.code, model_calls(case))
            edits = once((*loss, *criterion.targets(classes=False), *readers)) if loss else ()
            yield from self.change(case, "binary cross entropy for one output", edits, knob="loss")
            return
        wide = set_width(case, head, classes)
        faces = Faces(once((*wide.edits, *criterion.targets(classes=True)))) if wide.edits else Faces()
        yield from self.change(case, f"{classes} outputs", faces, knob="output width")

    EXAMPLES = {
        "a class without output; the width is a default": _output_example(
            layers="self.fc = nn.Linear(2, width)",
            forward="return self.fc(x)",
            takes="width=⟨3 → 4⟩",
            loss="criterion(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 3]))",
            raises=True,
        ),
        "one output for two classes": _output_example(
            criterion="nn.⟨CrossEntropyLoss → BCEWithLogitsLoss⟩()",
            setup="y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])",
            loss="criterion(model(torch.randn(4, 2)), y)",
            mark="nn.Linear",
        ),
        "the program asks for the largest output": example("""
                model = nn.Linear(2, ⟨1 → 2⟩)
                criterion = nn.CrossEntropyLoss()
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                x, y = torch.randn(4, 2), torch.tensor([[0.0], [1.0], [1.0], [0.0]])
                def loss_of(x, y):
                    return criterion⟨(model(x), y) → (model(x), y.squeeze(1).long())⟩
                for step in range(3):
                    optimizer.zero_grad()
                    loss = loss_of(x, y)
                    loss.backward()
                    optimizer.step()
                hits = model(x).argmax(1) == y[:, 0]"""),
        "one output per class": _output_example(
            model="⟨nn.Linear(2, 2)⟩", loss="criterion(model(torch.randn(4, 2)), torch.tensor([0, 1, 1, 0]))"
        ),
    }
