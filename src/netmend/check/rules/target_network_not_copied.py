from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.models import bare, is_module
from netmend.vocabulary.finding import Edit, Finding, Fix

HEAD = "import copy\nimport torch\nfrom torch import nn\n\nq_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))\n"
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


@register
class TargetNetworkNotCopied(StaticRule):
    """A second network that shall lag behind (target, teacher, reference, average) is the same object as the first.

    `target_net = q_net` copies nothing: both names mean one network. The target moves with every step, copying weights from one
    to the other does nothing, and what should be stable follows its own predictions; values diverge or never settle.

    Copy it: `target_net = copy.deepcopy(q_net)`.
    """

    code = "S417"
    cause = "API-USAGE"
    message = "{0} and {1} are the same network; make a copy: {0} = copy.deepcopy({1})."
    triggers = ("load_state_dict(", "copy_(", ".data")
    needs = "torch"
    patterns = (r"load_state_dict\([\w.]+\.state_dict\(\)", r"zip\([\w.]+\.parameters\(\)")

    GOOD = (
        Snippet("copied", HEAD + "target_net = copy.deepcopy(q_net)\n" + SYNC),
        Snippet(
            "made anew",
            HEAD + "target_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))\n" + SYNC,
        ),
        Snippet(
            "only another name", HEAD + "policy = q_net\npolicy.load_state_dict(torch.load('policy.pt'))\n"
        ),
        Snippet(
            "set back to what was kept", HEAD + "best = q_net.state_dict()\nq_net.load_state_dict(best)\n"
        ),
        Snippet("tied on purpose, never synchronised", HEAD + "target_net = q_net\nprint(target_net)\n"),
    )
    BAD = (
        Snippet("script", HEAD + "target_net = q_net\n" + SYNC, line=6),
        Snippet("in a class", "import torch\nfrom torch import nn\n\nclass Agent:\n    def __init__(self):\n        self.policy = nn.Linear(4, 2)\n"
                "        self.target = self.policy\n\n    def sync(self):\n        self.target.load_state_dict(self.policy.state_dict())\n", line=7),
        Snippet("soft update", HEAD + "q_target = q_net\n\ndef update(tau):\n    for a, b in zip(q_target.parameters(), q_net.parameters()):\n"
                "        a.data.copy_(tau * b.data + (1 - tau) * a.data)\n", line=6),
        Snippet("in a function", "import torch\nfrom torch import nn\n\ndef learn(env):\n    student = nn.Linear(8, 2)\n    teacher = student.to('cpu')\n"
                "    for x in env:\n        for t, s in zip(teacher.parameters(), student.parameters()):\n"
                "            t.data.mul_(0.99).add_(s.data, alpha=0.01)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        synchronised = {id(model) for model in _synchronised(program)}
        if not synchronised:
            return
        for event in program.events:
            target = event.target
            if event.kind != STORE or target is None or not _lags(target.name):
                continue
            model = bare(event.value)
            written = _written(event)
            if model is None or written is None or id(model) not in synchronised or not is_module(model):
                continue
            one, other = program.source(written[0]), program.source(written[1])
            node = program.statement(event.node)
            place = program.place(written[1])
            edit = Edit(place.line, place.column, place.end_line, place.end_column, f"copy.deepcopy({other})")
            fix = Fix("Copy the network.", (edit,), "unsafe") if "import copy\n" in program.text else None
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
        state = resolved(call.args[0]) if call is not None and call.args else None
        if call is None or not isinstance(state, Call) or state.method != "state_dict":
            continue
        model = bare(call.receiver)
        if model is not None and model is bare(state.receiver) and _is_direct(call):
            yield model
    for event in program.methods_of("copy_", "lerp_", "add_", "mul_"):
        for loop in event.loops()[:1]:
            pair = resolved(loop.iterable) if loop.iterable is not None else None
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
