"""Repairs of what an agent's value is trained towards."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change

_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    backward="(model(torch.ones(4, 2)) - 0.9 * target(torch.ones(4, 2)).detach()).pow(2).mean()",
)


class CopyTarget(Repair, code="R517", cures=("RL-NET-BIASED",)):
    """Make the target network a copy of the trained one.

    `target = model` gives one network a second name, and what is copied from it every so often is copied onto itself. A deep copy starts equal
    and stays behind until the program brings it up to date.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = case.code.statement_at(case.site)
        if found is None:
            return
        file, statement = found
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name | ast.Attribute):
            name, brought = spelled(file, "copy.deepcopy")
            edits = (*wrap(file, statement.value, f"{name}(", ")"), *brought)
            yield from self.change(case, "a copy as the target network", edits, knob="target network")

    EXAMPLES = {
        "another name for the same network": _example(
            setup="import copy\ntarget = ⟨model → copy.deepcopy(model)⟩"
        ),
        "by its own name": _example(setup="from copy import deepcopy\ntarget = ⟨model → deepcopy(model)⟩"),
        "a network of its own": _example(setup="⟨target = nn.Linear(2, 1)⟩"),
    }


_REWARD = re.compile(r"(?:^|_)(?:r|rew|rews|rewards?)(?:_|$)", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:^|_)(?:masks?|not_?dones?|non_?terminals?|continues?)(?:_|$)", re.IGNORECASE)
_ENDS = re.compile(r"(?:^|_)(?:dones?|terminated|terminations?|terminals?)(?:_|$)", re.IGNORECASE)
_NUMBERS = re.compile(r"Tensor\(|float")

_target_example = partial(
    example,
    model="",
    data="net, old = nn.Linear(2, 2), nn.Linear(2, 2)",
    optimizer="torch.optim.SGD(net.parameters(), lr=0.01)",
    step="learn(torch.randn(4, 2), [0.0, 1.0, 0.0, 1.0], torch.randn(4, 2), [0, 1, 0, 0])",
)
_LEARN = """
    def learn(state, reward, after, done):
        reward = torch.FloatTensor(reward)
        done = {}
        values = net(state).max(1)[0]
        goal = {}old(after).max(1)[0].detach()
        optimizer ← (values - goal).pow(2).mean()"""


class MaskEnds(Repair, code="R516", cures=("RL-ENV-DONES",)):
    """Let no value come from behind the end of an episode.

    Where the function that computes the target has the ends of episodes at hand, made as the rewards are and used nowhere, the value of the
    next state is multiplied by them.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = case.code.statement_at(case.site)
        if found is None:
            return
        file, statement = found
        function = file.function(statement)
        for node in inside(statement, ast.BinOp):
            if not isinstance(node.op, ast.Add) or function is None:
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
                yield from self.change(
                    case, f"multiply the value of the next state by `{factor}`", edits, knob="ends"
                )
            return

    EXAMPLES = {
        "ends that nobody asks for": _target_example(
            setup=_LEARN.format("torch.FloatTensor(done)", "reward + ⟨ → (1 - done) * ⟩0.9 * ")
        ),
        "a mask that nobody asks for": _target_example(
            setup=_LEARN.replace("done", "mask").format(
                "torch.FloatTensor(mask)", "reward + ⟨ → mask * ⟩0.9 * "
            )
        ),
        "masked": _target_example(
            setup=_LEARN.format("torch.FloatTensor(done)", "⟨reward⟩ + (1 - done) * 0.9 * ")
        ),
        "of another shape": _target_example(
            setup=_LEARN.format("torch.FloatTensor(done)[:, None]", "⟨reward⟩ + 0.9 * ")
        ),
    }


def _factor(file: File, function: Function, reward: str) -> str:
    """What to multiply by: a name of the function that is made just as the reward is, and read nowhere else."""
    names = list(inside(function, ast.Name))
    given = {argument.arg for argument in inside(function.args, ast.arg)}
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
        for node in inside(function, ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return re.sub(rf"\b{re.escape(name)}\b", "_", file.source(found[0])) if len(found) == 1 else None


def _is_read(file: File, function: Function, name: str) -> bool:
    """Whether it is used for anything but to be made."""
    for node in inside(function, ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load):
            statement = file.statement(node)
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return True
    return False


def _first_factor(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        value = value.left
    return value


_loop_example = partial(
    example,
    data="""
        class World:
            def reset(self):
                self.at = 0.0
                return torch.tensor([self.at])
            def step(self, action):
                self.at += action - 0.5
                return torch.tensor([self.at]), -abs(self.at), abs(self.at) > 2""",
    model="nn.Linear(1, 2)",
    setup="world = World()",
    loop="for episode in range(3)",
)
_EPISODE = """
    state, done, steps = world.reset(), False, 0
    while not done and steps < 20:
        steps += 1
        values = model(state)
        action = int(values.argmax())
        ⟨after, reward, done = world.step(action)⟩
        optimizer ← (values[action] - reward).pow(2)
"""


class NextState(Repair, code="R515", cures=("RL-STEP-MISSING",)):
    """Go on to the state that the step returned, at the end of the loop.

    It is added behind everything else in the loop, so that what is kept of a step still has the old state. Where an iteration may be cut short
    before that, nothing is proposed.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = case.code.statement_at(case.site)
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
            yield from self.change(case, f"go on to `{after.id}` at the end of the loop", edits, knob="state")

    EXAMPLES = {
        "a state that stands still": _loop_example(
            step=_EPISODE + "        print(reward)\n        + state = after"
        ),
        "it goes on": _loop_example(step=_EPISODE + "        state = after"),
        "an iteration that ends early": _loop_example(
            imports="import random",
            step=_EPISODE + "        if random.random() < 0.5:\n            continue\n        print(reward)",
        ),
    }


def _is_cut_short(file: File, loop: ast.For | ast.While) -> bool:
    return any(file.loop(node) is loop for node in inside(loop, ast.Continue))


def _from_reset(file: File, loop: ast.For | ast.While) -> set[str]:
    """Names that what reset() returned is given before the loop, in the same function."""
    found: set[str] = set()
    scope = file.function(loop) or file.tree
    for node in inside(scope, ast.Assign):
        if node.lineno >= loop.lineno or file.loop(node) is loop:
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
    names = list(inside(loop, ast.Name))
    written = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return {node.id for node in names} - written
