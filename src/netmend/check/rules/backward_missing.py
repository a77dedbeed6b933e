from __future__ import annotations

import ast
import re

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.operations import OFF_DEVICE
from netmend.program.engine.history import CallEvent, Event, Loop, StoreEvent, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Param, Value, resolved
from netmend.program.meaning.loops import is_seen_loop
from netmend.program.meaning.losses import loss_use
from netmend.program.meaning.models import is_computed_by
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import optimised
from netmend.program.meaning.statements import alone, is_beside
from netmend.program.meaning.training import (
    clears,
    grad_is_off,
    is_scaled_step,
    is_step,
    is_written,
    look_at,
    stepped,
    steps_plainly,
)
from netmend.program.text.edits import insert_before
from netmend.vocabulary.finding import SAFE, Fix

HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
"""
FUNCTION = """\
import torch

def fit(model, loader, optimizer, epochs):
    criterion = torch.nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
"""


class BackwardMissing(StaticRule, code="S107", cause="LOOP-BACKWARD"):
    """The loop computes a loss and steps the optimiser, and backward() is never called on the loss.

    Without gradients `step()` changes nothing (or only applies weight decay and old momentum); the network stays as it was drawn.

    Call `loss.backward()` between the loss and `step()`.
    """

    message = "step() is called but no backward() in this loop computes gradients; call backward() on the loss first."
    triggers = ("zero_grad(",)

    GOOD = (
        Snippet("complete", HEAD + "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()\n"),
        Snippet("another object computes gradients", HEAD + "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    engine.differentiate(loss)\n    opt.step()\n"),
        Snippet("gradients by hand", HEAD + "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n"
                "    for p, g in zip(net.parameters(), torch.autograd.grad(loss, net.parameters())):\n        p.grad = g\n    opt.step()\n"),
        Snippet("closure", HEAD + "for x, y in data:\n    def closure():\n        opt.zero_grad()\n        loss = F.mse_loss(net(x), y)\n        loss.backward()\n        return loss\n"
                "    opt.step(closure)\n"),
        Snippet("loss of the step before is only shown", HEAD + "for x, y in data:\n    opt.zero_grad()\n    update(net, x, y)\n    print(F.mse_loss(net(x), y))\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        mended("forgotten", HEAD + "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    + loss.backward()\n    opt.step()\n", line=10),
        mended("forgotten in a function", FUNCTION + "            + loss.backward()\n            optimizer.step()\n            total += loss.item()\n", line=10),
        mended("loss written out", HEAD + "for x, y in data:\n    opt.zero_grad()\n    loss = (net(x) - y).square().mean()\n    + loss.backward()\n    opt.step()\n", line=10),
        mended("loss given as a parameter", "def train(model, loader, optimizer, criterion):\n    for x, y in loader:\n        optimizer.zero_grad()\n"
                "        loss = criterion(model(x), y)\n        + loss.backward()\n        optimizer.step()\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for step in program.methods_of("step"):
            loops = step.loops()
            if not is_step(step) or not loops or not steps_plainly(step) or is_scaled_step(step):
                continue
            seen = look_at(loops[-1])
            if seen.backward or seen.opaque:
                continue
            if not any(clears(zero, stepped(step)) for zero in look_at(loops[0]).zero):
                continue
            if not is_seen_loop(program, loops[-1]) or any(map(is_written, loops[-1].events())):
                continue
            loss = self._loss(loops[0], step)
            if loss is not None and not self._goes_elsewhere(loops[-1], loss):
                yield self.finding(program, step.node, fix=self._fix(program, loss, step))

    def _loss(self, loop: Loop, step: Event) -> Event | None:
        """A loss that is computed before the step, in each round: by its kind, or by its name and the model behind it."""
        owners = optimised(stepped(step)) or ()
        for event in loop.body.events():
            if event.order > step.order or not always(event, loop) or event.loops()[0] is not loop:
                continue
            if grad_is_off(event):
                continue
            if isinstance(event, CallEvent) and _is_loss(event):
                return event
            is_named = isinstance(event, StoreEvent) and event.target.name in ("loss", "total_loss")
            if is_named and any(is_computed_by(event.value, owner) for owner in owners):
                return event
        return None

    def _goes_elsewhere(self, loop: Loop, loss: Event) -> bool:
        """Is the loss given to something that may call backward?"""
        for event in loop.events():
            call = event.call
            if call is None or event.order <= loss.order or call.result is not None:
                continue
            if call.qualified in _HARMLESS:
                continue
            if call.qualified.startswith(("torch.", "numpy.", "math.")) or call.method in _HARMLESS_METHODS:
                continue
            given = (
                *call.args,
                *call.keywords.values(),
                *((call.receiver,) if call.receiver is not None else ()),
            )
            if any(_reaches(loss.value, value) for value in given):
                return True
        return False

    def _fix(self, program: Program, loss: Event, step: Event) -> Fix | None:
        """The loss stands in a variable of the block that steps."""
        statement = alone(program, step)
        stored = program.statement(loss.node) if program.module.holds(loss.node) else None
        if statement is None or not isinstance(stored, ast.Assign):
            return None
        if not isinstance(stored.targets[0], ast.Name):
            return None
        if stored is not loss.node and stored.value is not loss.node:
            return None
        if len(stored.targets) > 1 or not is_beside(program, stored, statement):
            return None
        edits = insert_before(program, statement, f"{stored.targets[0].id}.backward()")
        return Fix(f"Call {stored.targets[0].id}.backward()", edits, SAFE)


def _is_loss(event: CallEvent) -> bool:
    """A loss of torch, or a parameter or attribute named as one and called with prediction and target."""
    call = event.call
    if loss_use(event) is not None:
        return True
    callee = resolved(call.function)
    is_named = isinstance(callee, Param | Attribute) and _LOSS.search(callee.name) is not None
    return is_named and call.result is None and len(call.args) == 2


def _reaches(loss: Value, value: Value) -> bool:
    """Is the loss, with its graph, a part of a value?"""
    return any(part is loss for part in walk(value, into=_keeps_graph))


def _keeps_graph(value: Value) -> bool:
    return not (isinstance(value, Call) and (value.method in _CUTS or value.qualified in _HARMLESS))


_LOSS = re.compile(r"^(loss_?f(n|unc(tion)?)|criterion|loss)$", re.IGNORECASE)
_HARMLESS = frozenset(("print", "float", "str", "format", "len", "round", "int", "isinstance"))
_CUTS = frozenset(OFF_DEVICE)
_HARMLESS_METHODS = _CUTS | {
    "append",
    "mean",
    "sum",
    "format",
    "info",
    "debug",
    "set_postfix",
    "add_scalar",
    "set_description",
}
