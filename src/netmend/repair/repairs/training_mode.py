"""R104."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.mode_places import in_training_mode
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change

_example = partial(
    example,
    model="nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for epoch in range(3)",
    component="model",
)


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
        example(
            "called before the loop over epochs: moved",
            """
                model = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))
                optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                - model.train()
                for epoch in range(3):
                    + model.train()
                    for batch in range(3):
                        optimizer.zero_grad()
                        model(torch.ones(4, 2)).mean().backward()
                        optimizer.step()
                    model.eval()
                    with torch.no_grad():
                        model(torch.ones(4, 2))""",
            mark="batch in",
            component="model",
        ),
        _example(
            "an epoch in a function",
            setup='''
                def train_epoch(net, opt):
                    """One pass."""
                    total = 0.0
                    + net.train()
                    for ⟨batch in range(3)⟩:
                        opt.zero_grad()
                        loss = net(torch.ones(4, 2)).mean()
                        loss.backward()
                        opt.step()
                        total += loss.item()
                def evaluate(net):
                    net.eval()
                    with torch.no_grad():
                        net(torch.ones(4, 2))''',
            step="train_epoch(model, optimizer)\nevaluate(model)",
            component="net",
        ),
        _example(
            "the whole data at once",
            loop="for epoch in range(6)",
            step="""
                + model.train()
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).mean()
                loss.backward()
                optimizer.step()
                model.eval()
                with torch.no_grad():
                    model(torch.ones(4, 2))""",
        ),
        _example(
            "eval where train belongs",
            step="""
                model.⟨eval → train⟩()
                for ⟨batch in range(3)⟩:
                    optimizer.zero_grad()
                    model(torch.ones(4, 2)).mean().backward()
                    optimizer.step()""",
        ),
    )
