"""Gradients that are accumulated over several batches."""

from __future__ import annotations

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Event, always, branches_between
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, Value, constant
from netmend.program.meaning.loops import call_events, every_nth, is_over_loader, turns
from netmend.program.meaning.losses import loss_use
from netmend.program.meaning.operations import origins
from netmend.program.meaning.training import Round, is_step, is_written, loss_of, one_optimiser

DIVIDED_HEAD = f"""{TORCH_F}
K = 8
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
DIVIDED_STEP = "    if (i + 1) % K == 0:\n        opt.step()\n        opt.zero_grad()\n"
LOOP = "for i, (x, y) in enumerate(data):\n    loss = F.cross_entropy(net(x), y)\n"
FUNCTION = """\
import torch

def train(model, loader, optimizer, every):
    criterion = torch.nn.CrossEntropyLoss()
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        if (i + 1) % every == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
"""


class AccumulationNotDivided(StaticRule, code="S116", cause="LOOP-ACCUM"):
    """Gradients of several batches are added up before a step, and the mean loss is not divided by their number.

    The step uses the sum of k mean gradients: as if the learning rate (and any limit for clipping, and weight decay the other way
    round) were k times another. What worked without accumulation diverges.

    Divide: `loss = loss / k` before `backward()`.
    """

    message = "Gradients of several batches are summed but the mean loss is not divided by their number; divide it before backward()."
    triggers = (".backward(",)

    GOOD = (
        Snippet("divided", DIVIDED_HEAD + LOOP + "    (loss / K).backward()\n" + DIVIDED_STEP),
        Snippet("gradients divided", DIVIDED_HEAD + LOOP + "    loss.backward()\n    if (i + 1) % K == 0:\n        for p in net.parameters():\n            p.grad /= K\n"
                "        opt.step()\n        opt.zero_grad()\n"),
        Snippet("a step at each batch", DIVIDED_HEAD + LOOP + "    loss.backward()\n    opt.step()\n    opt.zero_grad()\n    if i % K == 0:\n        print(loss.item())\n"),
        Snippet("a window of one", DIVIDED_HEAD.replace("K = 8", "K = 1") + LOOP + "    loss.backward()\n" + DIVIDED_STEP),
    )  # fmt: skip
    BAD = (
        Snippet("not divided", DIVIDED_HEAD + LOOP + "    loss.backward()\n" + DIVIDED_STEP, line=10),
        Snippet("not divided in a function", FUNCTION, line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            backward = turn.backward[0]
            if len(turn.backward) != 1 or not always(backward, turn.loop):
                continue
            if backward.loops()[0] is not turn.loop:
                continue
            if not self._accumulates(turn) or any(map(is_written, turn.loop.events())):
                continue
            if self._is_plain_mean(program, loss_of(backward)):
                yield self.finding(program, backward.node)

    def _accumulates(self, turn: Round) -> bool:
        """Each step and each clearing stands in a branch that is taken each k-th round."""
        if one_optimiser(turn.step) is None or not turn.zero:
            return False
        return all(_is_every_nth(event, turn) for event in (*turn.step, *turn.zero))

    def _is_plain_mean(self, program: Program, loss: Value | None) -> bool:
        for origin in origins(loss):
            event = call_events(program).get(id(origin))
            use = loss_use(event) if event is not None else None
            if use is None or constant(use.option("reduction") or Const("mean")) != "mean":
                return False
            if use.option("size_average"):
                return False
            if use.kind == "ctc":
                return False
        return loss is not None


def _is_every_nth(event: Event, turn: Round) -> bool:
    branches = branches_between(event, turn.loop)
    period = every_nth(branches[0][0].test) if len(branches) == 1 else None
    return period is not None and not (isinstance(period, Const) and period.value in (0, 1))


WINDOW_HEAD = """\
def train(model, loader, optimizer, k):
    for i, x in enumerate(loader):
        (model(x).mean() / k).backward()
"""
WINDOW_STEP = "            optimizer.step()\n            optimizer.zero_grad()\n"
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


class LastWindowDropped(StaticRule, code="S125", cause="LOOP-ACCUM", advisory=True):
    """With gradient accumulation, the batches after the last full window get no step.

    When the number of batches is no multiple of the window, the gradients of the rest are dropped, or leak into the first window of
    the next epoch, where they were computed with older weights.

    Step at the last batch too: `if (i + 1) % k == 0 or i + 1 == len(loader):`.
    """

    message = "Batches after the last full window are never used for a step; step at the last batch too."
    triggers = (".backward(",)

    GOOD = (
        Snippet("the last batch counts", WINDOW_HEAD + "        if (i + 1) % k == 0 or i + 1 == len(loader):\n" + WINDOW_STEP),
        Snippet("a step behind the loop", WINDOW_HEAD + "        if (i + 1) % k == 0:\n" + WINDOW_STEP + "    optimizer.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("full windows only", WINDOW_HEAD + "        if (i + 1) % k == 0:\n" + WINDOW_STEP, line=4),
        Snippet("full windows only, in a script", SCRIPT, line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
