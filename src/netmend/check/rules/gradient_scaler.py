"""The scaler of mixed precision: what has to go through it."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event, always, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant
from netmend.program.meaning.loops import exclusive, turns
from netmend.program.meaning.models import escapes
from netmend.program.meaning.roles import same
from netmend.program.meaning.statements import alone, is_beside, optimiser_text, within
from netmend.program.meaning.training import (
    Round,
    is_clipping,
    is_scaled_step,
    is_written,
    scaler_of,
    steps_plainly,
)
from netmend.program.text.edits import insert_after, insert_before, replace
from netmend.vocabulary.finding import SAFE, Fix

CLIP_HEAD = f"""{TORCH}
def train(model, loader, optimizer, scaler, loss_fn):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = loss_fn(model(x), y)
        scaler.scale(loss).backward()
"""
CLIP = "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
STEP = "        scaler.step(optimizer)\n        scaler.update()\n"
TRAINER = """\
import torch

class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def fit(self, loader):
        for x in loader:
            self.opt.zero_grad()
            self.scaler.scale(self.net(x).mean()).backward()
"""
TRAINER_END = "            torch.nn.utils.clip_grad_value_(self.net.parameters(), 0.5)\n            self.scaler.step(self.opt)\n            self.scaler.update()\n"


class ClipBeforeUnscale(StaticRule, code="S117", cause="LOOP-AMP"):
    """Gradients are clipped while they still carry the factor of the gradient scaler.

    `scaler.scale(loss)` multiplies the gradients by 65536 at first. Clipping them to a norm of 1 and dividing afterwards leaves
    steps that are thousands of times too small; training stands still without an error.

    Call `scaler.unscale_(optimizer)` before clipping.
    """

    message = "Gradients are clipped while still multiplied by the scaler; call scaler.unscale_(optimizer) before clipping."
    triggers = ("clip_grad_",)

    GOOD = (
        Snippet("unscaled first", CLIP_HEAD + "        scaler.unscale_(optimizer)\n" + CLIP + STEP),
        Snippet("clipped on the other path", CLIP_HEAD.replace("        scaler.scale(loss).backward()\n", "")
                + "        if amp:\n            scaler.scale(loss).backward()\n            scaler.step(optimizer)\n            scaler.update()\n"
                "        else:\n            loss.backward()\n            nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n            optimizer.step()\n"),
        Snippet("scaler switched off", "import torch\nscaler = torch.amp.GradScaler('cuda', enabled=False)\n" + CLIP_HEAD.replace(", scaler", "") + CLIP + STEP),
    )  # fmt: skip
    BAD = (
        Snippet("never unscaled", CLIP_HEAD + CLIP + STEP, line=10, fixed=CLIP_HEAD + "        scaler.unscale_(optimizer)\n" + CLIP + STEP),
        Snippet("in a trainer", TRAINER + TRAINER_END, line=13, fixed=TRAINER + "            self.scaler.unscale_(self.opt)\n" + TRAINER_END),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            if not any(map(is_clipping, turn.clip)) or any(map(is_written, turn.loop.events())):
                continue
            unscaled = [
                event
                for event in turn.loop.events()
                if event.call is not None and event.call.method == "unscale_"
            ]
            for clip in turn.clip:
                step = self._scaled_step(turn, clip)
                if not is_clipping(clip) or step is None:
                    continue
                if any(event.order < clip.order for event in unscaled):
                    continue
                yield self.finding(
                    program, clip.node, fix=None if unscaled else self._fix(program, clip, step)
                )

    def _scaled_step(self, turn: Round, clip: Event) -> Event | None:
        """The scaled step behind a clipping whose gradients were all computed from scaled losses."""
        earlier = [
            event for event in turn.backward if event.order < clip.order and not exclusive(event, clip)
        ]
        if not earlier or not all(_is_scaled(event) and before(event, clip) for event in earlier):
            return None
        later = [step for step in turn.step if step.order > clip.order and not exclusive(step, clip)]
        return later[0] if later and is_scaled_step(later[0]) else None

    def _fix(self, program: Program, clip: Event, step: Event) -> Fix | None:
        statement, place, name = within(program, clip), within(program, step), optimiser_text(program, step)
        if statement is None or place is None or not name or not is_beside(program, statement, place):
            return None
        assert isinstance(step.node, ast.Call) and isinstance(step.node.func, ast.Attribute)
        scaler = program.source(step.node.func.value)
        edits = insert_before(program, statement, f"{scaler}.unscale_({name})")
        return Fix(f"Call {scaler}.unscale_({name})", edits, SAFE)


def _is_scaled(backward: Event) -> bool:
    scaler = scaler_of(backward)
    is_off = (
        isinstance(scaler, Call)
        and scaler.keywords.get("enabled") is not None
        and not constant(scaler.keywords["enabled"])
    )
    return scaler is not None and not is_off


STEP_HEAD = """\
import torch

scaler = torch.amp.GradScaler("cuda")

def train(model, loader, optimizer, loss_fn):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = loss_fn(model(x), y)
"""
SCALED = "        scaler.scale(loss).backward()\n"


class StepPastScaler(StaticRule, code="S119", cause="LOOP-AMP"):
    """The loss is scaled, but the optimiser is stepped without the scaler, or the scaler is never updated.

    `scaler.scale(loss)` multiplies gradients by 65536 at first. `optimizer.step()` uses them as they are: the step is that many times
    too large, and batches with infinite gradients are not skipped. Without `scaler.update()` the second `scaler.step()` raises.

    Write `scaler.step(optimizer)` and then `scaler.update()`.
    """

    message = "The gradients are scaled, but this step bypasses the scaler; write scaler.step(optimizer), then scaler.update()."
    triggers = (".scale(",)

    GOOD = (
        Snippet("complete", STEP_HEAD + SCALED + "        scaler.step(optimizer)\n        scaler.update()\n"),
        Snippet("unscaled by hand", STEP_HEAD + SCALED + "        scaler.unscale_(optimizer)\n        optimizer.step()\n        scaler.update()\n"),
    )  # fmt: skip
    BAD = (
        mended("past the scaler", STEP_HEAD + SCALED + "        ⟨optimizer.step() → scaler.step(optimizer)⟩\n        scaler.update()\n"),
        mended("never updated", STEP_HEAD + SCALED + "        scaler.step(optimizer)\n        + scaler.update()\n"),
        Snippet("in a function", "def train(net, loader, optimizer, scaler):\n    for x in loader:\n        optimizer.zero_grad()\n        scaler.scale(net(x).mean()).backward()\n"
                "        optimizer.step()\n        scaler.update()\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            scaler = next((scaler_of(event) for event in turn.backward if scaler_of(event) is not None), None)
            if scaler is None or _may_be_off(scaler) or any(map(is_written, turn.loop.events())):
                continue
            if not any(_is_called(event, "unscale_") for event in turn.loop.events()):
                yield from self._past(program, turn)
            yield from self._not_updated(program, turn, scaler)

    def _past(self, program: Program, turn: Round) -> Findings:
        if any(map(is_scaled_step, turn.step)) or not all(
            scaler_of(event) is not None for event in turn.backward
        ):
            return
        for step in turn.step:
            earlier = [
                event for event in turn.backward if event.order < step.order and not exclusive(event, step)
            ]
            if earlier and steps_plainly(step):
                yield self.finding(program, step.node, fix=self._through(program, turn, earlier[-1], step))

    def _through(self, program: Program, turn: Round, backward: Event, step: Event) -> Fix | None:
        name, scaler = optimiser_text(program, step), _text(program, backward)
        if not name or not scaler or not any(_is_called(event, "update") for event in turn.loop.events()):
            return None
        return Fix("Step through the scaler", replace(program, step.node, f"{scaler}.step({name})"), SAFE)

    def _not_updated(self, program: Program, turn: Round, scaler: Value) -> Findings:
        steps = [step for step in turn.step if is_scaled_step(step) and always(step, turn.loop)]
        if not steps or any(
            _is_called(event, "update") for event in program.entry_of(turn.loop).block.events()
        ):
            return
        if not same(steps[-1].call.receiver if steps[-1].call else None, scaler) or escapes(program, scaler):
            return
        statement, backward = alone(program, steps[-1]), turn.backward[-1]
        name = _text(program, backward)
        edits = insert_after(program, statement, f"{name}.update()") if statement is not None and name else ()
        yield self.finding(
            program, steps[-1].node, "scaler.update() is never called, so the next scaler.step() will fail; call it after scaler.step().",
            fix=Fix(f"Call {name}.update()", edits, SAFE),
        )  # fmt: skip


def _is_called(event: Event, method: str) -> bool:
    return event.call is not None and event.call.method == method


def _may_be_off(scaler: Value) -> bool:
    enabled = scaler.keywords.get("enabled") if isinstance(scaler, Call) else None
    return enabled is not None and constant(enabled) is not True


def _text(program: Program, backward: Event) -> str:
    """How `scaler.scale(loss).backward()` writes the scaler."""
    node = backward.node
    for _ in range(2):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
    is_name = isinstance(node, ast.Name | ast.Attribute) and program.module.holds(node)
    return program.source(node) if is_name else ""
