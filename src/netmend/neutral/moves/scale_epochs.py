"""N102."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.neutral.move import moved, register
from netmend.program.source.numbers import number, set_number
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import SHORT_SEARCH, Change

_BODY = """
    optimizer.zero_grad()
    nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1)).backward()
    optimizer.step()
"""


@register
@dataclass(frozen=True)
class ScaleEpochs:
    """Train half or twice as long.

    The outermost counted loop around the training step runs half or twice as many rounds.
    """

    code: ClassVar[str] = "N102"
    causes: ClassVar[tuple[str, ...]] = ("HYP-EPOCH-FEW", "HYP-EPOCH-MANY")
    effort: ClassVar[int] = SHORT_SEARCH

    def propose(self, case: Case) -> Iterator[Change]:
        rounds = epoch_rounds(case)
        present = None if rounds is None else number(case.code, rounds.file, rounds.count, case.arguments)
        if rounds is None or present is None or present - rounds.start < 1:
            return
        whole = round(present) - rounds.start
        for cause, wanted in (("HYP-EPOCH-FEW", whole * 2), ("HYP-EPOCH-MANY", whole // 2)):
            if wanted < 1:
                continue
            text = str(wanted + rounds.start)
            faces = set_number(case.code, rounds.file, rounds.count, text, case.arguments)
            title = f"{whole} → {wanted} epochs"
            yield from moved(self, cause, title, faces, knob="epochs", cost=wanted / whole)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "twice",
            before=f"""
import torch
from torch import nn
EPOCHS = 3
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(EPOCHS):{_BODY}""",
            old="EPOCHS = 3",
            new="EPOCHS = 6",
        ),
        Example(
            "half",
            before=f"""
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(1, 11):{_BODY}""",
            old="range(1, 11)",
            new="range(1, 6)",
            nth=1,
        ),
        Example(
            "a loop without an end that is known",
            before="""
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x in (torch.ones(4, 2), torch.ones(4, 2)):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), torch.ones(4, 1)).backward()
    optimizer.step()
""",
        ),
    )
