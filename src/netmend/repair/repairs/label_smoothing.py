"""R217."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.program.source.values import set_argument
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import BY_FACTS, Change

_example = partial(
    example,
    model="nn.Linear(2, 3)",
    loss="criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))",
)


@register
@dataclass(frozen=True)
class LabelSmoothing:
    """Smooth labels by the usual tenth, or not at all.

    With more than half of each target given away, the network is not asked to tell classes apart.
    """

    code: ClassVar[str] = "R217"
    cures: ClassVar[tuple[str, ...]] = ("LOS-SMOOTH",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        loss = case.loss
        if loss is None or not loss.settings.get("label_smoothing"):
            return
        site = loss.created or loss.called
        for share in ("0.1", "0.0"):
            faces = set_argument(case.code, site, "label_smoothing", share, None, case.arguments)
            title = f"label smoothing {loss.settings['label_smoothing']:g} → {float(share):g}"
            yield from change(self, case, title, faces, knob="label smoothing")

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example("a literal", criterion="nn.CrossEntropyLoss(label_smoothing=⟨0.9 → 0.1⟩)"),
        _example(
            "a constant",
            data="SMOOTHING = ⟨0.8 → 0.1⟩",
            criterion="nn.CrossEntropyLoss(label_smoothing=SMOOTHING)",
        ),
        _example("no smoothing: nothing to change", criterion="nn.CrossEntropyLoss()", mark="criterion = "),
    )
