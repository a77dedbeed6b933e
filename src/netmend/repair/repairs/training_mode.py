"""R104."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.mode_places import in_training_mode
from netmend.repair.repair import Case, Example, change, register
from netmend.vocabulary.change import FREE, Change

_HEAD = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
"""


@register
@dataclass(frozen=True)
class TrainingMode:
    """Put the model into training mode at the start of every epoch.

    Evaluation switches dropout off and lets batch norm use its running statistics; without `train()` training goes on so.
    A call before the loop over epochs is moved into it; an `eval()` in front of the training loop becomes `train()`.
    """

    code: ClassVar[str] = "R104"
    cures: ClassVar[tuple[str, ...]] = ("LOOP-MODE-TRAIN",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        model = case.fault.component if case.fault is not None else ""
        yield from change(
            self,
            case,
            f"{model or 'model'}.train() in every epoch",
            in_training_mode(case, model),
            knob=f"{model} mode",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "called before the loop over epochs: moved",
            before=_HEAD
            + """
model.train()
for epoch in range(3):
    for batch in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        model(torch.ones(4, 2))
""",
            old="""model.train()
for epoch in range(3):
""",
            new="""for epoch in range(3):
    model.train()
""",
            mark="batch in",
            component="model",
        ),
        Example(
            "an epoch in a function",
            before=_HEAD
            + """
def train_epoch(net, opt):
    \"\"\"One pass.\"\"\"
    total = 0.0
    for batch in range(3):
        opt.zero_grad()
        loss = net(torch.ones(4, 2)).mean()
        loss.backward()
        opt.step()
        total += loss.item()

def evaluate(net):
    net.eval()
    with torch.no_grad():
        net(torch.ones(4, 2))

for epoch in range(3):
    train_epoch(model, optimizer)
    evaluate(model)
""",
            old="    for batch in",
            new="    net.train()\n    for batch in",
            mark="batch in",
            component="net",
        ),
        Example(
            "the whole data at once",
            before=_HEAD
            + """
for epoch in range(6):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 2)).mean()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        model(torch.ones(4, 2))
""",
            old="    optimizer.zero_grad()",
            new="    model.train()\n    optimizer.zero_grad()",
            mark="epoch in",
            component="model",
        ),
        Example(
            "eval where train belongs",
            before=_HEAD
            + """
for epoch in range(3):
    model.eval()
    for batch in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).mean().backward()
        optimizer.step()
""",
            old="model.eval()",
            new="model.train()",
            mark="batch in",
            component="model",
        ),
    )
