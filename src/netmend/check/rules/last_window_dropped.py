from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import always, branches_between
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const
from netmend.program.meaning.loops import every_nth, is_over_loader, turns
from netmend.program.meaning.training import Round, is_step
from netmend.program.meaning.training_steps import one_optimiser
from netmend.vocabulary.finding import Finding

HEAD = """\
def train(model, loader, optimizer, k):
    for i, x in enumerate(loader):
        (model(x).mean() / k).backward()
"""
STEP = "            optimizer.step()\n            optimizer.zero_grad()\n"
SCRIPT = """\
import torch

net = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(data, batch_size=4)
for epoch in range(9):
    for i, x in enumerate(loader, 1):
        (net(x).mean() / 4).backward()
        if i % 4 == 0:
            opt.step()
            opt.zero_grad()
"""


@register
class LastWindowDropped(StaticRule):
    """With gradient accumulation, the batches after the last full window get no step.

    When the number of batches is no multiple of the window, the gradients of the rest are dropped, or leak into the first window of
    the next epoch, where they were computed with older weights.

    Step at the last batch too: `if (i + 1) % k == 0 or i + 1 == len(loader):`.
    """

    code = "S125"
    cause = "LOOP-ACCUM"
    message = "Batches after the last full window are never used for a step; step at the last batch too."
    advisory = True
    triggers = (".backward(",)

    GOOD = (
        Snippet("the last batch counts", HEAD + "        if (i + 1) % k == 0 or i + 1 == len(loader):\n" + STEP),
        Snippet("a step behind the loop", HEAD + "        if (i + 1) % k == 0:\n" + STEP + "    optimizer.step()\n"),
        Snippet("a step at each batch", HEAD + "        if i >= 0:\n" + STEP),
    )  # fmt: skip
    BAD = (
        Snippet("full windows only", HEAD + "        if (i + 1) % k == 0:\n" + STEP, line=4),
        Snippet("full windows only, in a script", SCRIPT, line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            if len(turn.step) != 1 or not all(always(event, turn.loop) for event in turn.backward):
                continue
            branches = branches_between(turn.step[0], turn.loop)
            period = every_nth(branches[0][0].test, alone=True) if len(branches) == 1 else None
            if period is None or (isinstance(period, Const) and period.value in (0, 1)):
                continue
            if (
                one_optimiser(turn.step) is not None
                and is_over_loader(turn.loop)
                and not self._steps_after(program, turn)
            ):
                yield self.finding(program, getattr(branches[0][0].node, "test", branches[0][0].node))

    def _steps_after(self, program: Program, turn: Round) -> bool:
        events = program.entry_of(turn.loop).block.events()
        return any(is_step(event) and turn.loop not in event.loops() for event in events)
