from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, resolved
from netmend.program.meaning.loaders_of_models import evaluated
from netmend.program.meaning.operations import walk
from netmend.program.meaning.training import rounds
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = ReduceLROnPlateau(opt)
for epoch in range(9):
    total = 0.0
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    val = 0.0
    with torch.no_grad():
        for x, y in val_loader:
            val += nn.functional.cross_entropy(net(x), y).item()
"""
LOADERS = "from torch.utils.data import DataLoader\ntrain_loader, val_loader = DataLoader(a, shuffle=True), DataLoader(b)\n"


@register
class PlateauOnTrainingLoss(StaticRule):
    """The rate is lowered by `ReduceLROnPlateau` when the training loss stalls, although a validation loss is computed.

    The training loss goes on falling while the network overfits, so the rate is lowered too late or never.

    Pass the validation loss: `scheduler.step(val_loss)`.
    """

    code = "S611"
    cause = "HYP-LR-SCHED"
    message = "This scheduler watches the training loss; pass the validation loss."
    advisory = True
    triggers = ("ReduceLROnPlateau",)

    GOOD = (
        Snippet("validation loss", LOADERS + HEAD + "    schedule.step(val)\n"),
        Snippet(
            "another schedule",
            LOADERS
            + HEAD.replace("ReduceLROnPlateau(opt)", "torch.optim.lr_scheduler.StepLR(opt, 3)")
            + "    schedule.step()\n",
        ),
        Snippet(
            "nothing else is known",
            LOADERS + HEAD.partition("    val = 0.0")[0] + "    schedule.step(total)\n",
        ),
    )
    BAD = (
        Snippet("sum of the epoch", LOADERS + HEAD + "    schedule.step(total)\n", line=22),
        Snippet("the last batch", LOADERS + HEAD + "    schedule.step(loss)\n", line=22),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        losses = {
            id(resolved(loss))
            for turn in rounds(program)
            for event in turn.backward
            if (loss := loss_of(event)) is not None
        }
        if not losses or not evaluated(program):
            return
        for event in program.methods_of("step"):
            call = event.call
            made = resolved(call.receiver) if call is not None and call.receiver is not None else None
            if call is None or not isinstance(made, Call) or not call.args:
                continue
            is_plateau = made.qualified == "torch.optim.lr_scheduler.ReduceLROnPlateau"
            if is_plateau and any(id(resolved(part)) in losses for part in walk(call.args[0])):
                yield self.finding(program, event.node)
