"""The optimiser's step is missing or comes before backward()."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event, Loop, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value
from netmend.program.meaning.loops import is_seen_loop, turns
from netmend.program.meaning.models import escapes, is_computed_by, unseen_calls
from netmend.program.meaning.roles import OPTIMISER, SCHEDULER, optimised, role, same
from netmend.program.meaning.statements import alone, is_beside, moved_after
from netmend.program.meaning.training import (
    Round,
    backward_calls,
    clears,
    is_backward,
    is_replaced,
    look_at,
    loss_of,
    one_optimiser,
    steps_plainly,
)
from netmend.program.text.edits import insert_after
from netmend.vocabulary.finding import SAFE, Fix

HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
"""
LOOP = "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n"
EARLY_FUNCTION = "def train(model, loader, optimizer, loss_fn):\n    for x, y in loader:\n"


class StepBeforeBackward(StaticRule, code="S105", cause="LOOP-STEP"):
    """step() comes before backward() in each round of the loop.

    The step finds no gradients, or those of the previous batch: with `zero_grad()` in between nothing is learnt at all, otherwise
    every update is one batch late and the last one is lost.

    Order: `zero_grad()`, forward, loss, `backward()`, `step()`.
    """

    message = (
        "step() runs before backward() has computed this iteration's gradients; call it after backward()."
    )
    triggers = (".backward(",)

    GOOD = (
        Snippet("in order", HEAD + LOOP + "    loss.backward()\n    opt.step()\n"),
        Snippet("gradients of the first round are computed before", HEAD + "F.mse_loss(net(x), y).backward()\n" + "for x, y in data:\n    opt.step()\n    opt.zero_grad()\n"
                "    F.mse_loss(net(x), y).backward()\n"),
        Snippet("closure", HEAD + "def closure():\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    return loss\n\n"
                "for epoch in range(9):\n    opt.step(closure)\n    probe.backward()\n"),
        Snippet("only from the second round on", HEAD + "for i, (x, y) in enumerate(data):\n    if i > 0:\n        opt.step()\n        opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n"),
    )  # fmt: skip
    BAD = (
        mended("swapped", HEAD + LOOP + "    + loss.backward()\n    opt.step()\n    - loss.backward()\n", line=10),
        Snippet("first of all", EARLY_FUNCTION + "        optimizer.step()\n        optimizer.zero_grad()\n        loss_fn(model(x), y).backward()\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            if not turn.step or one_optimiser(turn.step) is None or any(map(is_replaced, turn.loop.events())):
                continue
            first = min(event.order for event in turn.backward)
            if any(step.order > first or not steps_plainly(step) for step in turn.step):
                continue
            events = (*turn.step, *turn.backward)
            if not all(always(event, turn.loop) and event.loops()[0] is turn.loop for event in events):
                continue
            if not self._has_gradients_before(program, turn):
                yield self.finding(program, turn.step[0].node, fix=self._fix(program, turn))

    def _has_gradients_before(self, program: Program, turn: Round) -> bool:
        earlier = program.entry_of(turn.loop).block.events()
        return any(is_backward(event) and event.order < turn.loop.order for event in earlier)

    def _fix(self, program: Program, turn: Round) -> Fix | None:
        step, backward = alone(program, turn.step[0]), alone(program, turn.backward[-1])
        if step is None or backward is None or not is_beside(program, step, backward) or len(turn.step) > 1:
            return None
        if any(turn.step[0].order < zero.order for zero in turn.zero):
            return None  # the clearing would then stand between the two
        return Fix("Step after backward()", moved_after(program, step, backward), SAFE)


MISSING_FUNCTION = """\
import torch

def fit(model, loader, loss_fn, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for x, y in loader:
            loss = loss_fn(model(x), y)
            optimizer.zero_grad()
            loss.backward()
"""


class StepMissing(StaticRule, code="S106", cause="LOOP-STEP"):
    """The loop computes gradients, an optimiser was made for the model, and its step() is never called.

    Gradients are computed and thrown away; the weights stay as they were drawn. The loss only wavers with the batches.

    Call `optimizer.step()` after `backward()`.
    """

    message = (
        "The gradients are never used: this model's optimiser never steps; call step() after backward()."
    )
    triggers = (".backward(",)

    GOOD = (
        Snippet("stepped", HEAD + LOOP + "    loss.backward()\n    opt.step()\n"),
        Snippet("handed to something else", HEAD + "engine = Engine(net, opt)\n" + LOOP + "    loss.backward()\n    engine.advance()\n"),
        Snippet("stepped after the loop", HEAD + LOOP + "    loss.backward()\nopt.step()\n"),
        Snippet("stepped in a list", HEAD + "opts = [opt]\n" + LOOP + "    loss.backward()\n    for each in opts:\n        each.step()\n"),
        Snippet("gradients are looked at", HEAD + "for x, y in data:\n    x.requires_grad_()\n    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    show(x.grad)\n"),
        Snippet("stepped in a hook", HEAD + "def hook(*_):\n    opt.step()\n\nregister(hook)\n" + LOOP + "    loss.backward()\n"),
    )  # fmt: skip
    BAD = (
        mended("forgotten", HEAD + LOOP + "    loss.backward()\n    + opt.step()\n"),
        mended("forgotten in a function", MISSING_FUNCTION + "            + optimizer.step()\n        print(epoch, loss.item())\n"),
        mended("only the schedule is stepped", HEAD + "plan = torch.optim.lr_scheduler.StepLR(opt, 3)\n" + LOOP + "    loss.backward()\n    + opt.step()\n    plan.step()\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        made = [event.value for event in program.calls if role(event.value) == OPTIMISER]
        if not made or not backward_calls(program) or not _is_clear(program):
            return
        for optimiser in made:
            owners = optimised(optimiser)
            if not owners or any(
                same(_receiver(event), optimiser) or _receiver(event) is None for event in _steps(program)
            ):
                continue
            if isinstance(optimiser, Call) and not escapes(
                program, optimiser, ("torch.optim.lr_scheduler.",)
            ):
                yield from self._unused(program, optimiser, owners)

    def _unused(self, program: Program, optimiser: Value, owners: tuple[Value, ...]) -> Findings:
        for backward in backward_calls(program):
            loops = backward.loops()
            if not loops or not is_seen_loop(program, loops[-1]) or not always(backward, loops[0]):
                continue
            if look_at(loops[-1]).step or not any(
                is_computed_by(loss_of(backward), owner) for owner in owners
            ):
                continue
            yield self.finding(program, backward.node, fix=self._fix(program, backward, loops[0], optimiser))
            return

    def _fix(self, program: Program, backward: Event, loop: Loop, optimiser: Value) -> Fix | None:
        """Where the loop itself shows how the optimiser is called."""
        statement = alone(program, backward)
        zero = next((zero for zero in look_at(loop).zero if clears(zero, optimiser)), None)
        if statement is None or zero is None or zero.order > backward.order:
            return None
        if not isinstance(zero.node, ast.Call):
            return None
        if not isinstance(zero.node.func, ast.Attribute) or not same(
            zero.call.receiver if zero.call else None, optimiser
        ):
            return None
        name = program.source(zero.node.func.value)
        edits = insert_after(program, statement, f"{name}.step()")
        return Fix(f"Call {name}.step()", edits, SAFE) if edits and name.isidentifier() else None


def _is_clear(program: Program) -> bool:
    """Everything that could step was evaluated, and nothing reads the gradients."""
    if not all(entry.complete for entry in program.entries) or "step" in unseen_calls(program):
        return False
    modules = {
        id(module): module
        for module in (program.module, *(program.module_of(event.node) for event in backward_calls(program)))
    }
    return not any(isinstance(node, ast.Attribute) and node.attr in ("grad", "step") and not _is_called(program, node)
                   for module in modules.values() for node in module.nodes)  # fmt: skip


def _is_called(program: Program, node: ast.Attribute) -> bool:
    above = program.parent(node)
    return node.attr == "step" and isinstance(above, ast.Call) and above.func is node


def _steps(program: Program) -> list[Event]:
    return [
        event
        for event in program.methods_of("step", "optimizer_step", "first_step")
        if role(event.call.receiver) != SCHEDULER
    ]


def _receiver(step: Event) -> Value | None:
    """The optimiser that is stepped; None where it cannot be told."""
    call = step.call
    if call is None:
        return None
    for value in (call.receiver, *call.args):
        if role(value) == OPTIMISER:
            return value
    return None
