"""R515."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.program.source.writing import insert_after
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, change, register
from netmend.testing.example import Example
from netmend.vocabulary.change import FREE, Change

_LOOP = """
import random
import torch
from torch import nn
class World:
    def reset(self):
        self.at = 0.0
        return torch.tensor([self.at])
    def step(self, action):
        self.at += action - 0.5
        return torch.tensor([self.at]), -abs(self.at), abs(self.at) > 2
net = nn.Linear(1, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
world = World()
for episode in range(3):
    state, done, steps = world.reset(), False, 0
    while not done and steps < 20:
        steps += 1
        values = net(state)
        action = int(values.argmax())
        after, reward, done = world.step(action)
        optimizer.zero_grad()
        (values[action] - reward).pow(2).backward()
        optimizer.step()
{}"""


@register
@dataclass(frozen=True)
class NextState:
    """Go on to the state that the step returned, at the end of the loop.

    It is added behind everything else in the loop, so that what is kept of a step still has the old state. Where an iteration may be cut short
    before that, nothing is proposed.
    """

    code: ClassVar[str] = "R515"
    cures: ClassVar[tuple[str, ...]] = ("RL-STEP-MISSING",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        found = None if case.fault is None else case.code.statement_at(case.fault.site)
        if found is None:
            return
        file, statement = found
        if not isinstance(statement, ast.Assign):
            return
        loop = file.loop(statement)
        target = statement.targets[0]
        after = target.elts[0] if isinstance(target, ast.Tuple | ast.List) and target.elts else None
        if loop is None or not isinstance(after, ast.Name) or _is_cut_short(file, loop):
            return
        stale = sorted(_from_reset(file, loop) & _only_read(loop))
        if len(stale) == 1 and stale[0] != after.id:
            edits = insert_after(file, loop.body[-1], f"{stale[0]} = {after.id}")
            yield from change(
                self, case, f"go on to `{after.id}` at the end of the loop", edits, knob="state"
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a state that stands still",
            before=_LOOP.format("        print(reward)\n"),
            old="        print(reward)\n",
            new="        print(reward)\n        state = after\n",
            mark="world.step",
        ),
        Example("it goes on", before=_LOOP.format("        state = after\n"), mark="world.step"),
        Example(
            "an iteration that ends early",
            before=_LOOP.format(
                "        if random.random() < 0.5:\n            continue\n        print(reward)\n"
            ),
            mark="world.step",
        ),
    )


def _is_cut_short(file: File, loop: ast.For | ast.While) -> bool:
    return any(isinstance(node, ast.Continue) and file.loop(node) is loop for node in ast.walk(loop))


def _from_reset(file: File, loop: ast.For | ast.While) -> set[str]:
    """Names that what reset() returned is given before the loop, in the same function."""
    found: set[str] = set()
    scope = file.function(loop) or file.tree
    for node in ast.walk(scope):
        if not isinstance(node, ast.Assign) or node.lineno >= loop.lineno or file.loop(node) is loop:
            continue
        for target, value in _pairs(node):
            call = value.value if isinstance(value, ast.Subscript) else value
            if (
                isinstance(call, ast.Call)
                and last_name(call.func) == "reset"
                and isinstance(target, ast.Name)
            ):
                found.add(target.id)
    return found


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`a, b = f(), g()` as two; of `a, b = f()` the first."""
    for target in node.targets:
        if not isinstance(target, ast.Tuple | ast.List):
            yield target, node.value
        elif isinstance(node.value, ast.Tuple | ast.List) and len(node.value.elts) == len(target.elts):
            yield from zip(target.elts, node.value.elts, strict=True)
        elif target.elts:
            yield target.elts[0], node.value


def _only_read(loop: ast.For | ast.While) -> set[str]:
    names = [node for node in ast.walk(loop) if isinstance(node, ast.Name)]
    written = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return {node.id for node in names} - written
