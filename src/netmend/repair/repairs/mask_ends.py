"""R516."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.program.text.queries import Function
from netmend.repair.repair import Case, change, register
from netmend.testing.example import Example
from netmend.vocabulary.change import FREE, Change

_REWARD = re.compile(r"(?:^|_)(?:r|rew|rews|rewards?)(?:_|$)", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:^|_)(?:masks?|not_?dones?|non_?terminals?|continues?)(?:_|$)", re.IGNORECASE)
_ENDS = re.compile(r"(?:^|_)(?:dones?|terminated|terminations?|terminals?)(?:_|$)", re.IGNORECASE)
_NUMBERS = re.compile(r"Tensor\(|float")

_TARGET = """
import torch
from torch import nn
net, old = nn.Linear(2, 2), nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
def learn(state, reward, after, done):
    reward = torch.FloatTensor(reward)
    done = {}
    values = net(state).max(1)[0]
    goal = reward + {}0.9 * old(after).max(1)[0].detach()
    optimizer.zero_grad()
    (values - goal).pow(2).mean().backward()
    optimizer.step()
for step in range(3):
    learn(torch.randn(4, 2), [0.0, 1.0, 0.0, 1.0], torch.randn(4, 2), [0, 1, 0, 0])
"""


@register
@dataclass(frozen=True)
class MaskEnds:
    """Let no value come from behind the end of an episode.

    Where the function that computes the target has the ends of episodes at hand, made as the rewards are and used nowhere, the value of the
    next state is multiplied by them.
    """

    code: ClassVar[str] = "R516"
    cures: ClassVar[tuple[str, ...]] = ("RL-ENV-DONES",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        found = None if case.fault is None else case.code.statement_at(case.fault.site)
        if found is None:
            return
        file, statement = found
        function = file.function(statement)
        for node in ast.walk(statement):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)) or function is None:
                continue
            reward, value = node.left, node.right
            if not isinstance(reward, ast.Name):
                reward, value = value, reward
            if not isinstance(reward, ast.Name) or not _REWARD.search(reward.id):
                continue
            factor = _factor(file, function, reward.id)
            if factor:
                first = _first_factor(value)
                text = file.source(first)
                if isinstance(first, ast.BinOp):
                    text = f"({text})"
                edits = replace(file, first, f"{factor} * {text}")
                yield from change(
                    self, case, f"multiply the value of the next state by `{factor}`", edits, knob="ends"
                )
            return

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "ends that nobody asks for",
            before=_TARGET.format("torch.FloatTensor(done)", ""),
            old="reward + 0.9",
            new="reward + (1 - done) * 0.9",
            mark="goal = ",
        ),
        Example(
            "a mask that nobody asks for",
            before=_TARGET.format("torch.FloatTensor(done)", "").replace("done", "mask"),
            old="reward + 0.9",
            new="reward + mask * 0.9",
            mark="goal = ",
        ),
        Example("masked", before=_TARGET.format("torch.FloatTensor(done)", "(1 - done) * "), mark="goal = "),
        Example(
            "of another shape", before=_TARGET.format("torch.FloatTensor(done)[:, None]", ""), mark="goal = "
        ),
    )


def _factor(file: File, function: Function, reward: str) -> str:
    """What to multiply by: a name of the function that is made just as the reward is, and read nowhere else."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    given = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    known = given | {node.id for node in names if isinstance(node.ctx, ast.Store)}
    like = _making(file, function, reward)
    for name in sorted(known):
        if not (_GOES_ON.search(name) or _ENDS.search(name)) or like is None:
            continue
        if _making(file, function, name) != like or _is_read(file, function, name):
            continue
        if _GOES_ON.search(name):
            return name
        if _NUMBERS.search(like):  # 1 - True is an error among tensors
            return f"(1 - {name})"
    return ""


def _making(file: File, function: Function, name: str) -> str | None:
    """How a name gets its value, with a blank for the name itself; None: in several ways, or out of sight."""
    found = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return re.sub(rf"\b{re.escape(name)}\b", "_", file.source(found[0])) if len(found) == 1 else None


def _is_read(file: File, function: Function, name: str) -> bool:
    """Whether it is used for anything but to be made."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            statement = file.statement(node)
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return True
    return False


def _first_factor(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        value = value.left
    return value
