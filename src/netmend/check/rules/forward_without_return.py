from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import module_classes, self_name
from netmend.program.text.edits import insert_after
from netmend.vocabulary.finding import Finding, Fix

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
"""


@register
class ForwardWithoutReturn(StaticRule):
    """`forward` computes a result and does not return it.

    A Python function without `return` gives None: the first line that uses the model's output stops with an error about `NoneType`.

    End `forward` with `return x`.
    """

    code = "S319"
    cause = "ARC-NET-WRONG"
    message = (
        "forward computes {name} but does not return it, so the model's output is None. Add return {name}."
    )
    triggers = ("def forward",)
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("returned", NET + "        x = self.fc(x)\n        return x\n"),
        Snippet("abstract", NET + "        raise NotImplementedError\n"),
        Snippet("nothing computed", NET + "        pass\n"),
        Snippet("works on its own state", NET + "        self.total = self.fc(x)\n"),
        Snippet("fills what it was given", NET + "        y = self.fc(x)\n        x.copy_(y)\n"),
        Snippet("gives one after the other", NET + "        for part in x:\n            yield self.fc(part)\n"),
        Snippet("the class makes the output itself", NET.replace("class Net(nn.Module)", "class Base(nn.Module):\n    def __call__(self, x):\n        super().__call__(x)\n"
                "        return self.kept.pop()\n\nclass Net(Base)") + "        out = self.fc(x)\n"),
        Snippet("returned on one path", NET + "        if self.training:\n            return self.fc(x)\n        y = self.fc(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("forgotten", NET + "        x = torch.relu(x)\n        x = self.fc(x)\n", line=11,
                fixed=NET + "        x = torch.relu(x)\n        x = self.fc(x)\n        return x\n"),
        Snippet("bare return", NET + "        out = self.fc(x)\n        return\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for cls in module_classes(program):
            method = cls.methods.get("forward")
            if (
                method is None
                or cls.method("__call__") is not None  # makes the output itself, of hooks for example
                or not isinstance(method.definition, ast.FunctionDef)
                or method.definition.decorator_list
            ):
                continue
            last = _last_result(method.definition)
            if last is not None:
                name = _target(last)
                is_end = method.definition.body[-1] is last
                edits = insert_after(program, last, f"return {name}") if is_end else ()
                fix = Fix(f"Return {name}", edits, "unsafe") if edits else None
                yield self.finding(program, last, self.message.format(name=name), fix=fix)


def _target(statement: ast.Assign) -> str:
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _last_result(definition: ast.FunctionDef) -> ast.Assign | None:
    """The last statement, if it stores the result of one of the module's own layers in a name that nothing reads behind it."""
    for node in ast.walk(definition):
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Raise) or (
            isinstance(node, ast.Return) and node.value is not None
        ):
            return None
    body = list(definition.body)
    if body and isinstance(body[-1], ast.Return):
        body.pop()
    last = body[-1] if body else None
    if not isinstance(last, ast.Assign) or len(last.targets) != 1 or not _target(last):
        return None
    call, owner = last.value, self_name(definition)
    if not isinstance(call, ast.Call):
        return None
    uses_layer = any(
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == owner
        for node in ast.walk(call)
    )
    shared = any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(definition))
    return last if uses_layer and not shared else None
