from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, always
from netmend.program.engine.program import Program
from netmend.program.meaning.loops import turns
from netmend.program.meaning.moves import alone, is_beside, moved_before
from netmend.program.meaning.training import Round
from netmend.program.meaning.training_steps import is_clipping, is_scaled_step, is_written, steps_plainly
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn

net = nn.LSTM(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in data:
    opt.zero_grad()
    loss = net(x)[0].mean()
"""
CLIP = "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
FUNCTION = """\
from torch.nn.utils import clip_grad_value_

def train(model, loader, optimizer):
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
"""


@register
class ClipWithoutEffect(StaticRule):
    """Gradients are clipped when it has no effect: before backward() computes them or after step() has used them.

    The step uses the unclipped gradients. One batch with large ones is enough to throw the weights away, which is what the
    clipping was meant to prevent.

    Clip between `backward()` and `step()`.
    """

    code = "S118"
    cause = "OPT-CLIP"
    message = "This clipping has no effect on the step; clip after backward() and before step()."
    triggers = ("clip_grad_",)

    GOOD = (
        Snippet("between", HEAD + "    loss.backward()\n" + CLIP + "    opt.step()\n"),
        Snippet("norm is measured after the step too", HEAD + "    loss.backward()\n" + CLIP + "    opt.step()\n"
                "    print(nn.utils.clip_grad_norm_(net.parameters(), float('inf')))\n"),
        Snippet("two networks", "from torch.nn.utils import clip_grad_norm_\n\ndef train(a, b, opt_a, opt_b, data):\n    for x in data:\n        opt_a.zero_grad()\n"
                "        a(x).mean().backward()\n        clip_grad_norm_(a.parameters(), 1.0)\n        opt_a.step()\n        opt_b.zero_grad()\n        b(x).mean().backward()\n"
                "        clip_grad_norm_(b.parameters(), 1.0)\n        opt_b.step()\n"),
        Snippet("step at the start of the next round", "from torch.nn.utils import clip_grad_norm_\n\ndef train(a, opt, data):\n    for i, x in enumerate(data):\n        if i:\n"
                "            opt.step()\n            opt.zero_grad()\n        a(x).mean().backward()\n        clip_grad_norm_(a.parameters(), 1.0)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("after the step", HEAD + "    loss.backward()\n    opt.step()\n" + CLIP, line=11, fixed=HEAD + "    loss.backward()\n" + CLIP + "    opt.step()\n"),
        Snippet("before backward", FUNCTION + "        clip_grad_value_(model.parameters(), 0.5)\n        loss.backward()\n        optimizer.step()\n", line=7,
                fixed=FUNCTION + "        loss.backward()\n        clip_grad_value_(model.parameters(), 0.5)\n        optimizer.step()\n"),
        Snippet("after step and clearing", FUNCTION + "        loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()\n"
                "        clip_grad_value_(model.parameters(), 0.5)\n", line=10,
                fixed=FUNCTION + "        loss.backward()\n        clip_grad_value_(model.parameters(), 0.5)\n        optimizer.step()\n        optimizer.zero_grad()\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            clips = [clip for clip in turn.clip if is_clipping(clip)]
            if (
                len(clips) != 1
                or len(turn.clip) != 1
                or not turn.zero
                or any(map(is_written, turn.loop.events()))
            ):
                continue
            events = (*turn.backward, *turn.step, *clips)
            if not all(always(event, turn.loop) and event.loops()[0] is turn.loop for event in events):
                continue
            if not all(map(steps_plainly, turn.step)) or turn.backward[-1].order > turn.step[-1].order:
                continue
            is_late = clips[0].order > turn.step[-1].order
            is_early = clips[0].order < turn.backward[0].order and turn.step[0].order > turn.backward[0].order
            if is_late or is_early:
                yield self.finding(program, clips[0].node, fix=self._fix(program, turn, clips[0]))

    def _fix(self, program: Program, turn: Round, clip: Event) -> Fix | None:
        if len(turn.step) > 1 or is_scaled_step(turn.step[0]):
            return None
        statement, step = alone(program, clip), alone(program, turn.step[0])
        if statement is None or step is None or not is_beside(program, statement, step):
            return None
        edits = moved_before(program, statement, step)
        return Fix("Clip before step()", edits, SAFE) if edits else None
