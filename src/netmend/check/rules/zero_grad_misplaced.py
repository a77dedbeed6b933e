"""zero_grad() is called, but not where it clears what it should."""

from __future__ import annotations

from netmend.check.examples import TORCH, TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event, always, before, branches_between
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const
from netmend.program.meaning.loops import (
    changes_in,
    every_nth,
    exclusive,
    made_in,
    on_every_path,
    runs_once,
    turns,
)
from netmend.program.meaning.statements import alone, is_beside, moved_after, moved_before, within
from netmend.program.meaning.training import (
    Round,
    cleared_outside,
    clears,
    is_replaced,
    is_written,
    one_optimiser,
    stepped,
    steps_plainly,
)
from netmend.vocabulary.finding import SAFE, Fix

BETWEEN_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
BETWEEN_FUNCTION = "def train(model, loader, criterion, optimizer):\n    for x, y in loader:\n"


class ZeroGradBetweenBackwardAndStep(StaticRule, code="S102", cause="LOOP-STEP"):
    """zero_grad() stands between backward() and step(), so the step sees empty gradients.

    The gradients that `backward()` has just computed are thrown away before they are used. Nothing is learnt, or, with gradient
    accumulation, only from the last batch of each window; nothing crashes.

    Clear before `backward()` or after `step()`; when accumulating, clear only after the step.
    """

    message = "Gradients are cleared after backward() and before step() uses them; clear before backward() or after step()."
    triggers = ("zero_grad(",)

    GOOD = (
        Snippet("cleared before", BETWEEN_HEAD + "for x, y in data:\n    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"),
        Snippet("gradients are put back", BETWEEN_HEAD + "for x, y in data:\n    F.mse_loss(net(x), y).backward()\n    kept = [p.grad.clone() for p in net.parameters()]\n"
                "    opt.zero_grad()\n    for p, g in zip(net.parameters(), kept):\n        p.grad = g\n    opt.step()\n"),
        Snippet("accumulation", BETWEEN_HEAD + "for i, (x, y) in enumerate(data):\n    (F.mse_loss(net(x), y) / 4).backward()\n    if (i + 1) % 4 == 0:\n"
                "        opt.step()\n        opt.zero_grad()\n"),
        Snippet("a bad step is skipped", BETWEEN_HEAD + "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n"
                "    if torch.isfinite(loss):\n        opt.step()\n"),
        Snippet("each fifth round has a backward of its own", BETWEEN_HEAD + "for i, (x, y) in enumerate(data):\n    opt.zero_grad()\n    other(x).backward()\n"
                "    if i % 5 == 0:\n        F.mse_loss(net(x), y).backward()\n        opt.step()\n"),
    )  # fmt: skip
    BAD = (
        mended("between", BETWEEN_HEAD + "for x, y in data:\n    + opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    - opt.zero_grad()\n    opt.step()\n", line=9),
        mended("in a function, by the model", BETWEEN_FUNCTION + "        loss = criterion(model(x), y)\n        + optimizer.zero_grad()\n        loss.backward()\n"
                "        - optimizer.zero_grad()\n        print(loss.item())\n        optimizer.step()\n", line=5),
        mended("cleared at each small batch", BETWEEN_HEAD + "for i, (x, y) in enumerate(data):\n    - opt.zero_grad()\n    (F.mse_loss(net(x), y) / 4).backward()\n    if (i + 1) % 4 == 0:\n"
                "        opt.step()\n        + opt.zero_grad()\n"),
        Snippet("model cleared in a helper", BETWEEN_HEAD + "def update():\n    net.zero_grad()\n    opt.step()\n\nfor x, y in data:\n    F.mse_loss(net(x), y).backward()\n"
                "    update()\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            for step in turn.step:
                if steps_plainly(step):
                    yield from self._wiped(program, turn, step)
                    yield from self._wiped_while_accumulating(program, turn, step)

    def _wiped(self, program: Program, turn: Round, step: Event) -> Findings:
        """The last thing before the step that touches its gradients is a clearing."""
        earlier = [
            event for event in turn.backward if event.order < step.order and not exclusive(event, step)
        ]
        for zero in turn.zero:
            if not (
                earlier
                and zero.order > earlier[-1].order
                and before(zero, step)
                and clears(zero, stepped(step))
            ):
                continue
            if _is_written_between(turn, zero.order, step.order):
                continue
            if any(zero.order > other.order > earlier[0].order for other in turn.step):
                continue
            statement, place = alone(program, zero), alone(program, earlier[-1])
            fix = None
            if (
                statement is not None
                and place is not None
                and len(earlier) == 1
                and is_beside(program, statement, place)
            ):
                fix = Fix("Clear before backward()", moved_before(program, statement, place), SAFE)
            yield self.finding(program, zero.node, fix=fix)

    def _wiped_while_accumulating(self, program: Program, turn: Round, step: Event) -> Findings:
        """Each round clears and calls backward, only each k-th steps."""
        branches = branches_between(step, turn.loop)
        if len(branches) != 1 or len(turn.step) != 1 or step.loops()[0] is not turn.loop:
            return
        period = every_nth(branches[0][0].test)
        if period is None or (isinstance(period, Const) and period.value == 1):
            return
        if len(turn.backward) != 1 or not always(turn.backward[0], turn.loop):
            return
        for zero in turn.zero:
            if (
                always(zero, turn.loop)
                and clears(zero, stepped(step))
                and zero.order < turn.backward[0].order
            ):
                if _is_written_between(turn, 0, step.order) or len(turn.zero) != 1:
                    continue
                statement, place = alone(program, zero), alone(program, step)
                edits = (
                    moved_after(program, statement, place)
                    if statement is not None and place is not None
                    else ()
                )
                yield self.finding(
                    program, zero.node,
                    "Gradients are cleared at each batch although step() runs only every k-th; clear after step() instead.",
                    cause="LOOP-ACCUM", fix=Fix("Clear after step()", edits, SAFE),
                )  # fmt: skip


def _is_written_between(turn: Round, first: int, last: int) -> bool:
    return any(first < event.order < last and is_written(event) for event in turn.loop.events())


OUTSIDE_HEAD = f"""{TORCH}
net = nn.Linear(4, 3)
optimizer = torch.optim.Adam(net.parameters())
"""
OUTSIDE_LOOP = "for epoch in range(9):\n"
BATCH = "        loss = (net(x) - y).square().mean()\n"
TRAINER = """\
import torch

class Trainer:
    def __init__(self, net, loader):
        self.net, self.loader = net, loader
        self.opt = torch.optim.Adam(net.parameters())

    def fit(self):
"""


class ZeroGradOutsideLoop(StaticRule, code="S103", cause="LOOP-ZERO-GRAD"):
    """zero_grad() is called before the batch loop or once per epoch, while step() runs at each batch.

    `backward()` adds to the gradients that are there, so each step uses the sum of all batches since the last clearing: steps grow
    with every batch, the loss jumps or diverges.

    Call `optimizer.zero_grad()` inside the loop that steps, before `backward()`.
    """

    message = "Gradients are cleared outside the loop that steps, so they accumulate from batch to batch; clear inside it, before backward()."
    triggers = ("zero_grad(",)

    GOOD = (
        Snippet("cleared at each batch", OUTSIDE_HEAD + OUTSIDE_LOOP + "    for x, y in data:\n        optimizer.zero_grad()\n" + BATCH
                + "        loss.backward()\n        optimizer.step()\n"),
        Snippet("a step of its own before the loop", OUTSIDE_HEAD + "optimizer.zero_grad()\nnet(first).sum().backward()\noptimizer.step()\n" + OUTSIDE_LOOP + "    for x, y in data:\n"
                + BATCH + "        loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()\n"),
    )  # fmt: skip
    BAD = (
        mended("once per epoch", OUTSIDE_HEAD + OUTSIDE_LOOP + "    - optimizer.zero_grad()\n    for x, y in data:\n" + BATCH + "        + optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n"),
        mended("once, in a trainer", TRAINER + "        - self.opt.zero_grad()\n        for epoch in range(9):\n            for x, y in self.loader:\n"
                "                + self.opt.zero_grad()\n                self.net(x).sum().backward()\n                self.opt.step()\n"),
        Snippet("in the caller", "def train(model, loader, optimizer):\n    for x, y in loader:\n        model(x).sum().backward()\n        optimizer.step()\n\n"
                "def main(model, loader, optimizer):\n    for epoch in range(9):\n        optimizer.zero_grad()\n        train(model, loader, optimizer)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            here = [step for step in turn.step if step.loops()[0] is turn.loop and steps_plainly(step)]
            if turn.zero or not here or runs_once(turn.loop) or any(map(is_replaced, turn.loop.events())):
                continue
            outside = cleared_outside(program, turn)
            if outside is not None and not made_in(program, one_optimiser(turn.step), turn.loop):
                yield self.finding(program, outside.node, fix=self._fix(program, turn, outside))

    def _fix(self, program: Program, turn: Round, outside: Event) -> Fix | None:
        statement, backward = alone(program, outside), within(program, turn.backward[0])
        if statement is None or backward is None or len(turn.backward) > 1:
            return None
        if program.function(statement) is not program.function(backward):
            return None
        return Fix("Clear before backward()", moved_before(program, statement, backward), SAFE)


BRANCH_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
"""
BRANCH_LOOP = "for step, (x, y) in enumerate(data):\n    loss = F.mse_loss(net(x), y)\n"
BRANCH_FUNCTION = "def train(model, loader, optimizer):\n    for i, batch in enumerate(loader):\n        loss = model(batch)\n"


class ZeroGradOnOneBranch(StaticRule, code="S104", cause="LOOP-ZERO-GRAD"):
    """zero_grad() runs only in some rounds of the loop, while backward() and step() run in all of them.

    In the rounds without it, `backward()` adds to old gradients and the step follows the sum: a burst of growing steps until the
    branch is taken again. (Accumulation is different: there, `step()` stands in the branch too.)

    Move `zero_grad()` out of the branch; to accumulate, move `step()` into it.
    """

    message = "Gradients are cleared only when this branch is taken, but step() runs in every iteration; clear before each backward()."
    triggers = ("zero_grad(",)

    GOOD = (
        Snippet("accumulation", BRANCH_HEAD + BRANCH_LOOP + "    (loss / 4).backward()\n    if step % 4 == 3:\n        opt.step()\n        opt.zero_grad()\n"),
        Snippet("cleared on both paths", BRANCH_HEAD + BRANCH_LOOP + "    if step % 2:\n        opt.zero_grad()\n    else:\n        net.zero_grad()\n    loss.backward()\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        mended("in the logging branch", BRANCH_HEAD + BRANCH_LOOP + "    if step % 100 == 0:\n        - opt.zero_grad()\n        print(step, loss.item())\n    + opt.zero_grad()\n    loss.backward()\n"
                "    opt.step()\n"),
        Snippet("accumulation without a branch for step", BRANCH_FUNCTION + "        loss.backward()\n        optimizer.step()\n        if (i + 1) % 8 == 0:\n            optimizer.zero_grad()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            optimiser = one_optimiser(turn.step)
            if optimiser is None or not turn.zero or not all(clears(zero, optimiser) for zero in turn.zero):
                continue
            if not all(always(event, turn.loop) for event in (*turn.step, *turn.backward)):
                continue
            if not all(steps_plainly(step) and step.loops()[0] is turn.loop for step in turn.step):
                continue
            if on_every_path(turn.loop.body, {id(zero) for zero in turn.zero}) or any(
                map(is_replaced, turn.loop.events())
            ):
                continue
            if all(self._depends_on_round(zero, turn) for zero in turn.zero):
                yield self.finding(program, turn.zero[0].node, fix=self._fix(program, turn))

    def _depends_on_round(self, zero: Event, turn: Round) -> bool:
        """An option that holds for the whole loop may be a choice of the user."""
        branches = branches_between(zero, turn.loop)
        return len(branches) == 1 and changes_in(branches[0][0].test, turn.loop)

    def _fix(self, program: Program, turn: Round) -> Fix | None:
        zero, backward = alone(program, turn.zero[0]), within(program, turn.backward[0])
        if zero is None or backward is None or len(turn.zero) + len(turn.backward) > 2:
            return None
        is_first = turn.zero[0].order < turn.backward[0].order
        if not is_first or program.function(zero) is not program.function(backward):
            return None
        return Fix("Clear before each backward()", moved_before(program, zero, backward), SAFE)
