"""Gradient clipping that does nothing or too much."""

from __future__ import annotations

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Branch, Event, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value
from netmend.program.meaning.loops import turns
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same
from netmend.program.meaning.settings import number
from netmend.program.meaning.statements import alone, is_beside, moved_before
from netmend.program.meaning.training import (
    Round,
    is_clip,
    is_clipping,
    is_scaled_step,
    is_written,
    steps_plainly,
)
from netmend.vocabulary.finding import SAFE, Fix

LATE_HEAD = f"""{TORCH}
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


class ClipWithoutEffect(StaticRule, code="S118", cause="OPT-CLIP"):
    """Gradients are clipped when it has no effect: before backward() computes them or after step() has used them.

    The step uses the unclipped gradients. One batch with large ones is enough to throw the weights away, which is what the
    clipping was meant to prevent.

    Clip between `backward()` and `step()`.
    """

    message = "This clipping has no effect on the step; clip after backward() and before step()."
    triggers = ("clip_grad_",)

    GOOD = (
        Snippet("between", LATE_HEAD + "    loss.backward()\n" + CLIP + "    opt.step()\n"),
        Snippet("norm is measured after the step too", LATE_HEAD + "    loss.backward()\n" + CLIP + "    opt.step()\n"
                "    print(nn.utils.clip_grad_norm_(net.parameters(), float('inf')))\n"),
        Snippet("two networks", "from torch.nn.utils import clip_grad_norm_\n\ndef train(a, b, opt_a, opt_b, data):\n    for x in data:\n        opt_a.zero_grad()\n"
                "        a(x).mean().backward()\n        clip_grad_norm_(a.parameters(), 1.0)\n        opt_a.step()\n        opt_b.zero_grad()\n        b(x).mean().backward()\n"
                "        clip_grad_norm_(b.parameters(), 1.0)\n        opt_b.step()\n"),
        Snippet("step at the start of the next round", "from torch.nn.utils import clip_grad_norm_\n\ndef train(a, opt, data):\n    for i, x in enumerate(data):\n        if i:\n"
                "            opt.step()\n            opt.zero_grad()\n        a(x).mean().backward()\n        clip_grad_norm_(a.parameters(), 1.0)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("after the step", LATE_HEAD + "    loss.backward()\n    opt.step()\n" + CLIP, line=11, fixed=LATE_HEAD + "    loss.backward()\n" + CLIP + "    opt.step()\n"),
        mended("before backward", FUNCTION + "        + loss.backward()\n        clip_grad_value_(model.parameters(), 0.5)\n        - loss.backward()\n"
                "        optimizer.step()\n", line=7),
        mended("after step and clearing", FUNCTION + "        loss.backward()\n        + clip_grad_value_(model.parameters(), 0.5)\n        optimizer.step()\n"
                "        optimizer.zero_grad()\n        - clip_grad_value_(model.parameters(), 0.5)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            clips = [clip for clip in turn.clip if is_clipping(clip)]
            if len(clips) != 1 or len(turn.clip) != 1 or not turn.zero:
                continue
            if any(map(is_written, turn.loop.events())):
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
        return Fix("Clip before step()", moved_before(program, statement, step), SAFE)


TINY_HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
OPTION = (
    'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--clip", type=float, default={0})\n'
    "args = parser.parse_args()\n"
)
LOOP = "for x, y in data:\n    opt.zero_grad()\n    net(x).sum().backward()\n    {0}\n    opt.step()\n"


class ClipLimitTiny(StaticRule, code="S412", cause="OPT-CLIP"):
    """Gradients are clipped to a limit that leaves almost nothing of them.

    `clip_grad_norm_` scales all gradients down together. With a limit of 1e-4 or less plain SGD hardly moves any more; a limit of
    zero stops training and a negative one turns the direction around.

    Usual limits lie between 0.1 and 10. Leave the call out if no clipping is wanted.
    """

    message = "This limit leaves almost nothing of the gradients."
    triggers = ("clip_grad_",)

    limit = 1e-4  # a thousandth of the smallest limit in published recipes

    GOOD = (
        Snippet("a usual limit", TINY_HEAD + LOOP.format("nn.utils.clip_grad_norm_(net.parameters(), 1.0)")),
        Snippet(
            "not known", TINY_HEAD + LOOP.format("nn.utils.clip_grad_norm_(net.parameters(), max_norm=limit)")
        ),
        Snippet(
            "an option that switches it off",
            TINY_HEAD
            + OPTION.format(-1)
            + LOOP.format("if args.clip > 0:\n        nn.utils.clip_grad_norm_(net.parameters(), args.clip)"),
        ),
        Snippet(
            "asked for in a helper",
            TINY_HEAD
            + OPTION.format(0)
            + "def limit(net, most):\n    if most:\n        nn.utils.clip_grad_norm_(net.parameters(), most)\n\n"
            + LOOP.format("limit(net, args.clip)"),
        ),
    )
    BAD = (
        Snippet("tiny", TINY_HEAD + LOOP.format("nn.utils.clip_grad_norm_(net.parameters(), max_norm=1e-5)"), line=9),
        Snippet("zero from a constant", TINY_HEAD + "CLIP = 0\n" + LOOP.format("torch.nn.utils.clip_grad_value_(net.parameters(), CLIP)"), line=10),
        Snippet("default of a trainer", "import torch\nfrom torch import nn\nclass Trainer:\n    def __init__(self, net, clip=1e-5):\n"
                "        self.net, self.clip = net, clip\n        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)\n\n    def fit(self, data):\n"
                "        for x in data:\n            self.opt.zero_grad()\n            self.net(x).sum().backward()\n"
                "            nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)\n            self.opt.step()\n\n"
                "Trainer(nn.Linear(4, 2)).fit(data)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            call = event.call
            if not is_clip(event) or not call.qualified:
                continue
            name = "clip_value" if "clip_grad_value" in call.qualified else "max_norm"
            given = call.argument(name, 1)
            limit = number(program, given)
            if limit is not None and limit <= self.limit and not _is_asked(event, given):
                yield self.finding(
                    program,
                    event.node,
                    f"Clipping to {limit:g} leaves almost nothing of the gradients; 1.0 is a usual limit.",
                )


def _is_asked(event: Event, limit: Value | None) -> bool:
    """Does a branch around the call look at the limit? Then zero or less means that nothing is clipped."""
    return any(
        isinstance(part, Branch) and any(same(value, limit) for value in walk(part.test))
        for part in event.around()
    )
