from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, Loop, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Collection, Const, constant
from netmend.program.meaning.loops import call_events, turns
from netmend.program.meaning.operations import walk
from netmend.program.meaning.training_steps import is_written, loss_of
from netmend.program.text.edits import delete_argument
from netmend.vocabulary.finding import UNSAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
for x in data:
    opt.zero_grad()
    loss = net(x).mean()
"""
FUNCTION = "def train(model, loader, optimizer):\n    for x in loader:\n        optimizer.zero_grad()\n"


@register
class GraphRetainedInLoop(StaticRule):
    """backward(retain_graph=True) is called in a loop that differentiates each graph only once.

    Keeping the graph costs memory until the next round. Most often it was added to silence "Trying to backward through the graph a
    second time", which says that something with a graph is carried from round to round: then each step goes through all rounds
    before it, slower and slower.

    Take `retain_graph=True` out; if the error comes back, detach what is carried over.
    """

    code = "S120"
    cause = "TRN-MEM"
    message = "The graph is kept although it is used only once per iteration; remove retain_graph=True and detach the state carried over."
    advisory = True
    triggers = ("retain_graph",)

    GOOD = (
        Snippet("not kept", HEAD + "    loss.backward()\n    opt.step()\n"),
        Snippet("two losses of one graph", HEAD + "    loss.backward(retain_graph=True)\n    loss.square().backward()\n    opt.step()\n"),
        Snippet("second derivative", HEAD + "    loss.backward(retain_graph=True)\n    extra = torch.autograd.grad(loss, x)\n    opt.step()\n"),
        Snippet("an option", HEAD + "    loss.backward(retain_graph=again)\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("kept", HEAD + "    loss.backward(retain_graph=True)\n    opt.step()\n", line=9, fixed=HEAD + "    loss.backward()\n    opt.step()\n"),
        Snippet("kept in a function", FUNCTION + "        model(x).mean().backward(retain_graph=True)\n        optimizer.step()\n", line=4,
                fixed=FUNCTION + "        model(x).mean().backward()\n        optimizer.step()\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            backward = turn.backward[0]
            if len(turn.backward) != 1 or backward.call is None or backward.loops()[0] is not turn.loop:
                continue
            if constant(backward.call.keywords.get("retain_graph") or Const(False)) is not True:
                continue
            is_plain = "create_graph" not in backward.call.keywords and not any(
                map(is_written, turn.loop.events())
            )
            if is_plain and always(backward, turn.loop) and not self._is_shared(program, backward, turn.loop):
                yield self.finding(program, backward.node, fix=self._fix(program, backward))

    def _is_shared(self, program: Program, backward: Event, loop: Loop) -> bool:
        """Does a part of the graph come from outside the loop, so that later rounds need it again?"""
        for value in walk(loss_of(backward)):
            event = call_events(program).get(id(value))
            if event is not None and loop not in event.loops():
                return True
            if isinstance(value, Collection) and value.open:
                return True
        return False

    def _fix(self, program: Program, backward: Event) -> Fix | None:
        node = backward.node
        if not isinstance(node, ast.Call) or not program.module.holds(node):
            return None
        keyword = next((keyword for keyword in node.keywords if keyword.arg == "retain_graph"), None)
        edits = delete_argument(program, node, keyword) if keyword is not None else ()
        return Fix("Remove retain_graph=True", edits, UNSAFE) if edits else None
