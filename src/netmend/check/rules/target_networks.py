"""Target networks and the targets of value learning."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Item, Operation, Param, Value, constant, resolved
from netmend.program.meaning.gradient_flow import reach
from netmend.program.meaning.losses import ELEMENTWISE, LossUse, loss_uses
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import LAYOUT, origins
from netmend.program.meaning.roles import bare
from netmend.program.meaning.training import grad_is_off
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Fix

GRADIENT_HEAD = f"""{TORCH_F}
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


class TargetWithGradient(StaticRule, code="S234", cause="RL-GRAD-WRONG"):
    """The target of a value is computed from the network's own next value, and gradients flow through it.

    The loss can then also be lowered by changing the target: the network pulls the value of the next state down to meet the present one.
    Learning is slow, and what is learnt is biased.

    Compute the target under `torch.no_grad()`, from a target network, or `detach()` it.
    """

    message = "Gradients flow into this target through the network's own next value; compute it under no_grad() or detach() it."
    triggers = ("mse_loss", "MSELoss", "smooth_l1_loss", "SmoothL1Loss", "huber_loss", "HuberLoss")

    GOOD = (
        Snippet("detached", GRADIENT_HEAD + NEXT + FIT.format("goal.detach()")),
        Snippet("a target network", GRADIENT_HEAD + NEXT.replace("q(s2)", "frozen(s2)") + FIT.format("goal")),
        Snippet("the value of the data", GRADIENT_HEAD + NEXT.replace(".max(1)", ".data.max(1)") + FIT.format("goal")),
    )  # fmt: skip
    BAD = (
        mended("the best next value", GRADIENT_HEAD + NEXT + FIT.format("goal⟨ → .detach()⟩"), line=14),
        Snippet("the value of a state", GRADIENT_HEAD.replace("q(s).gather(1, a)", "q(s)") + "    goal = r + 0.99 * q(s2) * (1 - done)\n" + FIT.format("goal"), line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in loss_uses(program):
            goals = origins(use.target, LAYOUT)
            if use.kind not in ELEMENTWISE or len(goals) != 1 or grad_is_off(use.event):
                continue
            goal = goals[0]
            if not _is_bootstrapped(goal):
                continue
            through = reach(program, goal).open
            if through and set(through) & set(reach(program, use.prediction).open):
                yield self.finding(
                    program, goal.node, fix=_fix(program, use), see=[("Compared here.", use.node)]
                )


def _fix(program: Program, use: LossUse) -> Fix | None:
    node = use.call.node
    if node is None or len(node.args) < 2 or isinstance(node.args[1], ast.Starred):
        return None
    plain = isinstance(node.args[1], ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    edits = wrap(program, node.args[1], "" if plain else "(", ".detach()" if plain else ").detach()")
    return Fix("Detach the target", edits)


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


COPY_HEAD = "import copy\nimport torch\nfrom torch import nn\n\nq_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))\n"
SYNC = "target_net.load_state_dict(q_net.state_dict())\n"
_OTHERS = (
    "target",
    "old",
    "teacher",
    "ema",
    "momentum",
    "frozen",
    "reference",
    "ref",
    "shadow",
    "averaged",
    "best",
)


class TargetNetworkNotCopied(StaticRule, code="S417", cause="API-USAGE"):
    """A second network that shall lag behind (target, teacher, reference, average) is the same object as the first.

    `target_net = q_net` copies nothing: both names mean one network. The target moves with every step, copying weights from one
    to the other does nothing, and what should be stable follows its own predictions; values diverge or never settle.

    Copy it: `target_net = copy.deepcopy(q_net)`.
    """

    message = "{0} and {1} are the same network; make a copy: {0} = copy.deepcopy({1})."
    triggers = ("load_state_dict(", "copy_(", ".data")
    needs = "torch"
    patterns = (r"load_state_dict\([\w.]+\.state_dict\(\)", r"zip\([\w.]+\.parameters\(\)")

    GOOD = (
        Snippet("copied", COPY_HEAD + "target_net = copy.deepcopy(q_net)\n" + SYNC),
        Snippet(
            "only another name",
            COPY_HEAD + "policy = q_net\npolicy.load_state_dict(torch.load('policy.pt'))\n",
        ),
    )
    BAD = (
        Snippet("script", COPY_HEAD + "target_net = q_net\n" + SYNC, line=6),
        Snippet("in a class", "import torch\nfrom torch import nn\n\nclass Agent:\n    def __init__(self):\n        self.policy = nn.Linear(4, 2)\n"
                "        self.target = self.policy\n\n    def sync(self):\n        self.target.load_state_dict(self.policy.state_dict())\n", line=7),
        Snippet("in a function", "import torch\nfrom torch import nn\n\ndef learn(env):\n    student = nn.Linear(8, 2)\n    teacher = student.to('cpu')\n"
                "    for x in env:\n        for t, s in zip(teacher.parameters(), student.parameters()):\n"
                "            t.data.mul_(0.99).add_(s.data, alpha=0.01)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        synchronised = {id(model) for model in _synchronised(program)}
        if not synchronised:
            return
        for event in program.stores:
            target = event.target
            if not _lags(target.name):
                continue
            model = bare(event.value)
            written = _written(event)
            if model is None or written is None or id(model) not in synchronised or not is_module(model):
                continue
            one, other = program.source(written[0]), program.source(written[1])
            node = program.statement(event.node)
            edits = wrap(program, written[1], "copy.deepcopy(", ")")
            fix = Fix("Copy the network.", edits, "unsafe") if "import copy\n" in program.text else None
            yield self.finding(program, node, self.message.format(one, other), fix=fix)


def _lags(name: str) -> bool:
    words = name.lower().split("_")
    return any(word.rstrip("0123456789") in _OTHERS or word.startswith("target") for word in words)


def _written(event: Event) -> tuple[ast.expr, ast.expr] | None:
    """Both sides of `target = other`, where the other is only named, perhaps moved: nothing is made there."""
    node = event.node
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    value = node.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in ("to", "cuda", "cpu", "eval", "train", "requires_grad_"):
            return None
        value = value.func.value
    is_named = isinstance(value, ast.Name | ast.Attribute)
    return (node.targets[0], node.value) if is_named else None


def _synchronised(program: Program) -> Iterator[Value]:
    """Networks whose weights are copied or averaged into themselves."""
    for event in program.methods_of("load_state_dict"):
        call = event.call
        state = resolved(call.args[0]) if call.args else None
        if not isinstance(state, Call) or state.method != "state_dict":
            continue
        model = bare(call.receiver)
        if model is not None and model is bare(state.receiver) and _is_direct(call):
            yield model
    for event in program.methods_of("copy_", "lerp_", "add_", "mul_"):
        for loop in event.loops()[:1]:
            pair = resolved(loop.iterable)
            if isinstance(pair, Call) and pair.qualified == "zip" and len(pair.args) >= 2:
                owners = [_owner(part) for part in pair.args[:2]]
                if owners[0] is not None and owners[0] is owners[1]:
                    yield owners[0]


def _is_direct(call: Call) -> bool:
    """`a.load_state_dict(b.state_dict())` in one go; a state that was kept before may be an older one."""
    return call.node is not None and bool(call.node.args) and isinstance(call.node.args[0], ast.Call)


def _owner(value: Value) -> Value | None:
    value = resolved(value)
    if isinstance(value, Call) and value.method == "parameters":
        return bare(value.receiver)
    return None
