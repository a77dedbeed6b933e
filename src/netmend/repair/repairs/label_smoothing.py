"""R217."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.program.source.values import set_argument
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import BY_FACTS, Change

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
