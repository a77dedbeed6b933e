from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, constant
from netmend.program.meaning.loops import exclusive, turns
from netmend.program.meaning.moves import is_beside, optimiser_text, within
from netmend.program.meaning.training import Round
from netmend.program.meaning.training_steps import is_clipping, is_scaled_step, is_written, scaler_of
from netmend.program.text.edits import insert_before
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn

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


@register
class ClipBeforeUnscale(StaticRule):
    """Gradients are clipped while they still carry the factor of the gradient scaler.

    `scaler.scale(loss)` multiplies the gradients by 65536 at first. Clipping them to a norm of 1 and dividing afterwards leaves
    steps that are thousands of times too small; training stands still without an error.

    Call `scaler.unscale_(optimizer)` before clipping.
    """

    code = "S117"
    cause = "LOOP-AMP"
    message = "Gradients are clipped while still multiplied by the scaler; call scaler.unscale_(optimizer) before clipping."
    triggers = ("clip_grad_",)

    GOOD = (
        Snippet("unscaled first", HEAD + "        scaler.unscale_(optimizer)\n" + CLIP + STEP),
        Snippet("no scaler", HEAD.replace("scaler.scale(loss)", "loss") + CLIP + "        optimizer.step()\n"),
        Snippet("clipped on the other path", HEAD.replace("        scaler.scale(loss).backward()\n", "")
                + "        if amp:\n            scaler.scale(loss).backward()\n            scaler.step(optimizer)\n            scaler.update()\n"
                "        else:\n            loss.backward()\n            nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n            optimizer.step()\n"),
        Snippet("unscaled if in use", HEAD + "        if amp:\n            scaler.unscale_(optimizer)\n" + CLIP + STEP),
        Snippet("scaler switched off", "import torch\nscaler = torch.amp.GradScaler('cuda', enabled=False)\n" + HEAD.replace(", scaler", "") + CLIP + STEP),
    )  # fmt: skip
    BAD = (
        Snippet("never unscaled", HEAD + CLIP + STEP, line=10, fixed=HEAD + "        scaler.unscale_(optimizer)\n" + CLIP + STEP),
        Snippet("in a trainer", TRAINER + TRAINER_END, line=13, fixed=TRAINER + "            self.scaler.unscale_(self.opt)\n" + TRAINER_END),
        Snippet("unscaled too late", HEAD + CLIP + "        scaler.unscale_(optimizer)\n" + STEP, line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
                if (
                    not is_clipping(clip)
                    or step is None
                    or any(event.order < clip.order for event in unscaled)
                ):
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
        return Fix(f"Call {scaler}.unscale_({name})", edits, SAFE) if edits else None


def _is_scaled(backward: Event) -> bool:
    scaler = scaler_of(backward)
    is_off = (
        isinstance(scaler, Call)
        and scaler.keywords.get("enabled") is not None
        and not constant(scaler.keywords["enabled"])
    )
    return scaler is not None and not is_off
