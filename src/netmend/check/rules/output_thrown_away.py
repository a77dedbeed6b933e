from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Body, Branch, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value, resolved
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import DROPOUTS, NORMS, RANDOM, bodies, forward_around, module_classes
from netmend.program.meaning.operations import ACTIVATIONS, Op, operation
from netmend.program.meaning.paths import Paths, paths
from netmend.program.meaning.sizes import setting
from netmend.program.meaning.test_code import is_test_code
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

NET = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)
        self.bn = nn.BatchNorm1d(8)
        self.act = nn.ReLU(inplace=True)
        self.skip = nn.Linear(4, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
"""
_PURE = ACTIVATIONS | DROPOUTS | NORMS | (RANDOM - {"lstm", "gru", "rnn"}) | {
    "maxpool1d", "maxpool2d", "avgpool2d", "max_pool2d", "avg_pool2d", "flatten", "normalize", "batch_norm", "layer_norm",
}  # fmt: skip
_PROBABILITIES = frozenset(("softmax", "log_softmax", "sigmoid", "logsoftmax"))


@register
class OutputThrownAway(StaticRule):
    """The result of a layer or tensor function in `forward` is never used.

    Layers and functions return a new tensor and leave their input as it was: `self.bn(x)` on a line of its own does nothing, and a
    branch whose result no later line reads gets no gradient and never learns.

    Assign the result (`x = self.bn(x)`) or use it where it was meant to go.
    """

    code = "S317"
    cause = "ARC-NET-WRONG"
    message = "The result of this call is never used, so it does nothing; assign it or use it."
    triggers = ("def forward",)
    patterns = (r"^[ \t]+(?:self\.(?!post_init|_)\w+|F\.\w+|torch\.\w+)\(\s*[a-z]\w*\s*[,)]", LITERAL_LAYERS)

    GOOD = (
        Snippet("assigned", NET + "        x = self.bn(self.fc(x))\n        return self.out(F.relu(x))\n"),
        Snippet("changes its input", NET + "        x = self.fc(x)\n        self.act(x)\n        F.relu(x, inplace=True)\n        return self.out(x)\n"),
        Snippet("kept in a list", NET + "        kept = []\n        kept.append(self.fc(x))\n        return kept\n"),
        Snippet("only for hooks", "from torch import nn\n\nmodel = nn.Linear(2, 1)\nmodel(x)\n"),
        Snippet("used on one path", NET + "        h = self.skip(x)\n        y = self.fc(x)\n        if self.training:\n            y = y + h\n        return self.out(y)\n"),
        Snippet("kept in the object", NET + "        self.last = self.fc(x)\n        return self.out(self.last)\n"),
        Snippet("probabilities nobody asked for", NET + "        scores = self.out(F.relu(self.fc(x)))\n        probs = F.softmax(scores, dim=1)\n        return scores\n"),
        Snippet("deleted again", NET + "        h = self.skip(x)\n        del h\n        return self.out(self.fc(x))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("on a line of its own", NET + "        x = self.fc(x)\n        self.bn(x)\n        return self.out(x)\n", line=16,
                fixed=NET + "        x = self.fc(x)\n        x = self.bn(x)\n        return self.out(x)\n"),
        Snippet("function on a line of its own", NET + "        x = self.fc(x)\n        F.relu(x)\n        return self.out(x)\n", line=16,
                fixed=NET + "        x = self.fc(x)\n        x = F.relu(x)\n        return self.out(x)\n"),
        Snippet("a branch nobody reads", NET + "        a = self.fc(x)\n        b = self.skip(x)\n        return self.out(a + a)\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        alone, unread = _written(program)
        if (not alone and not unread) or is_test_code(program):
            return
        known = paths(program)
        told: set[int] = set()
        for op in known.ops if alone else ():
            event = known.events.get(id(op.value))
            if id(op.value.node) not in alone or event is None or op.name not in _PURE or op.value.method:
                continue
            body = forward_around(event)
            if body is None or _enclosing(event) is not body or not program.entry_of(event).complete:
                continue
            if id(op.node) not in told and not _works_in_place(op) and _goes_on(known, op, event):
                told.add(id(op.node))
                yield self.finding(program, op.node, fix=_fix(program, op))
        for event in program.events if unread else ():
            if event.kind != STORE or id(event.node) not in unread or not isinstance(event.node, ast.Assign):
                continue
            if forward_around(event) is None or not _is_learned(event.value):
                continue
            if not known.users.get(id(resolved(event.value))) and not _is_second_output(known, event.value):
                yield self.finding(program, event.node.value)


def _written(program: Program) -> tuple[set[int], set[int]]:
    """In `forward`: calls on a line of their own, and assignments to a name that is written nowhere else."""
    alone: set[int] = set()
    unread: set[int] = set()
    for cls in module_classes(program):
        method = cls.methods.get("forward")
        if method is None or not bodies(program, cls, "forward"):
            continue
        names: dict[str, int] = {}
        assigned: list[tuple[str, ast.Assign]] = []
        for node in ast.walk(method.definition):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                alone.add(id(node.value))
            elif isinstance(node, ast.Name):
                names[node.id] = names.get(node.id, 0) + 1
            elif (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                assigned.append((node.targets[0].id, node))
        unread.update(id(node) for name, node in assigned if names[name] == 1 and not name.startswith("_"))
    return alone, unread


def _is_learned(value: Value) -> bool:
    """Is it computed by a layer with weights, along its own way of operations?"""
    op = operation(resolved(value))
    for _ in range(30):
        if op is None or (op.layer is not None and op.name in RANDOM):
            return op is not None
        op = operation(resolved(op.input)) if op.input is not None else None
    return False


def _is_second_output(known: Paths, value: Value) -> bool:
    """Probabilities of scores that go on as they are: work for nothing, but no layer is lost."""
    op = operation(resolved(value))
    if op is None or op.name not in _PROBABILITIES or op.input is None:
        return False
    return any(user is not op.value for user in known.users.get(id(resolved(op.input)), []))


def _works_in_place(op: Op) -> bool:
    if op.value.qualified.endswith("_") or op.value.method.endswith("_"):
        return True
    for holder in (op.layer, op.value):
        if holder is not None and (
            holder.open or setting(holder.keywords.get("inplace"), False) is not False
        ):
            return True
    if op.name not in ACTIVATIONS | DROPOUTS:
        return False
    options = op.layer.args if op.layer is not None else op.value.args[1:]
    return any(
        not isinstance(setting(value, 0), int | float) or setting(value, 0) is True for value in options
    )


def _enclosing(event: Event) -> Body | None:
    return next((part for part in event.around() if isinstance(part, Body)), None)


def _goes_on(known: Paths, op: Op, event: Event) -> bool:
    """Is the unchanged input used again later, by something that counts?"""
    if op.input is None or any(isinstance(part, Branch) and part.kind == "try" for part in event.around()):
        return False
    for user in known.users.get(id(resolved(op.input)), []):
        if isinstance(user, Event):
            return True
        later = known.events.get(id(user))
        if (
            user is not op.value
            and (later is None or later.order > event.order)
            and known.users.get(id(user))
        ):
            return True
    return False


def _fix(program: Program, op: Op) -> Fix | None:
    node = op.node
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Name):
        return None
    edits = replace(program, node, f"{node.args[0].id} = {program.source(node)}")
    return Fix("Assign the result", edits, "unsafe") if edits else None
