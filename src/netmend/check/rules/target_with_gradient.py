from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Item, Operation, Param, Value, constant, resolved
from netmend.program.meaning.gradient_flow import reach
from netmend.program.meaning.heads import loss_uses, where
from netmend.program.meaning.losses import ELEMENTWISE, LossUse
from netmend.program.meaning.operations import LAYOUT, origins
from netmend.program.meaning.training import grad_is_off
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

q = nn.Linear(4, 2)
frozen = nn.Linear(4, 2)
optimizer = torch.optim.Adam(q.parameters())
gamma = 0.98

def learn(memory):
    s, a, r, s2, done = memory.sample(32)
    chosen = q(s).gather(1, a)
"""
FIT = "    loss = F.smooth_l1_loss(chosen, {})\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n\nfor step in range(100):\n    learn(memory)\n"
NEXT = "    best = q(s2).max(1)[0].unsqueeze(1)\n    goal = r + gamma * best * (1 - done)\n"
_DISCOUNT = re.compile("gamma|discount", re.IGNORECASE)


@register
class TargetWithGradient(StaticRule):
    """The target of a value is computed from the network's own next value, and gradients flow through it.

    The loss can then also be lowered by changing the target: the network pulls the value of the next state down to meet the present one.
    Learning is slow, and what is learnt is biased.

    Compute the target under `torch.no_grad()`, from a target network, or `detach()` it.
    """

    code = "S234"
    cause = "RL-GRAD-WRONG"
    message = "Gradients flow into this target through the network's own next value; compute it under no_grad() or detach() it."
    triggers = ("mse_loss", "MSELoss", "smooth_l1_loss", "SmoothL1Loss", "huber_loss", "HuberLoss")

    GOOD = (
        Snippet("detached", HEAD + NEXT + FIT.format("goal.detach()")),
        Snippet("without gradients", HEAD + "    with torch.no_grad():\n        best = q(s2).max(1)[0].unsqueeze(1)\n    goal = r + gamma * best * (1 - done)\n" + FIT.format("goal")),
        Snippet("a target network", HEAD + NEXT.replace("q(s2)", "frozen(s2)") + FIT.format("goal")),
        Snippet("a sum that is no target", HEAD + "    goal = r + a\n" + FIT.format("goal")),
        Snippet("the value of the data", HEAD + NEXT.replace(".max(1)", ".data.max(1)") + FIT.format("goal")),
    )  # fmt: skip
    BAD = (
        Snippet("the best next value", HEAD + NEXT + FIT.format("goal"), line=14, fixed=HEAD + NEXT + FIT.format("goal.detach()")),
        Snippet("the value of a state", HEAD.replace("q(s).gather(1, a)", "q(s)") + "    goal = r + 0.99 * q(s2) * (1 - done)\n" + FIT.format("goal"), line=13),
        Snippet("written in the loss", HEAD + FIT.format("r + gamma * q(s2).max(1, keepdim=True)[0]"), line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for use in loss_uses(program):
            goals = origins(use.target, LAYOUT)
            if use.kind not in ELEMENTWISE or len(goals) != 1 or grad_is_off(use.event):
                continue
            goal = goals[0]
            if goal.node is None or id(goal.node) in seen or not _is_bootstrapped(goal):
                continue
            through = reach(program, goal).open
            if through and set(through) & set(reach(program, use.prediction).open):
                seen.add(id(goal.node))
                related = where(program, "Compared here.", use.node)
                yield self.finding(program, goal.node, fix=_fix(program, use), related=related)


def _fix(program: Program, use: LossUse) -> Fix | None:
    node = use.call.node
    if node is None or len(node.args) < 2 or isinstance(node.args[1], ast.Starred):
        return None
    plain = isinstance(node.args[1], ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    edits = wrap(program, node.args[1], "" if plain else "(", ".detach()" if plain else ").detach()")
    return Fix("Detach the target", edits) if edits else None


def _is_bootstrapped(value: Value) -> bool:
    """`reward + gamma * …`, with a reward that is given."""
    if not isinstance(value, Operation) or value.operator != "+" or len(value.operands) != 2:
        return False
    sides = [resolved(side) for side in value.operands]
    return any(
        _is_discounted(one) and isinstance(other, Item | Attribute | Param)
        for one, other in (sides, sides[::-1])
    )


def _is_discounted(value: Value) -> bool:
    factors: list[tuple[Value, ast.AST | None]] = [(value, value.node)]
    for _ in range(10):
        if not factors:
            return False
        factor, node = factors.pop()
        inner = resolved(factor)
        if isinstance(inner, Operation) and inner.operator == "*":
            written = inner.node
            sides = (written.left, written.right) if isinstance(written, ast.BinOp) else (None, None)
            factors.extend(zip(inner.operands, sides, strict=True))
            continue
        number = constant(inner)
        if isinstance(number, float) and 0.8 <= number < 1:
            return True
        name = getattr(node, "attr", getattr(node, "id", "")) if node is not None else ""
        if not isinstance(inner, Call) and _DISCOUNT.search(name):
            return True
    return False
