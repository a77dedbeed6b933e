from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Class, Name
from netmend.program.meaning.modules import learns, module_classes
from netmend.vocabulary.finding import Finding

NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
"""
# Words that reach layers without naming them.
_REACH = frozenset(
    ("children", "named_children", "modules", "named_modules", "_modules", "__dict__", "getattr", "get_submodule", "vars", "__getattr__",
     "__getattribute__", "eval", "exec", "locals")
)  # fmt: skip


@register
class LayerNeverUsed(StaticRule):
    """A layer with weights is made in `__init__` and no line ever uses it.

    It takes memory, stands in checkpoints, gets no gradient, and stops distributed training that does not expect unused parameters.
    Often a line of `forward` is missing, or uses another layer twice.

    Use it in `forward`, or take it out.
    """

    code = "S318"
    cause = "ARC-NET-WRONG"
    message = "The layer self.{name} is created but never used; use it in forward or remove it."
    advisory = True
    triggers = ("def forward",)

    GOOD = (
        Snippet("all used", NET + "        return self.out(self.fc2(self.fc1(x).relu()).relu())\n"),
        Snippet("reached by a loop", NET + "        for layer in self.children():\n            x = layer(x)\n        return x\n"),
        Snippet("reached by name", NET + "        for name in ('fc1', 'fc2', 'out'):\n            x = getattr(self, name)(x)\n        return x\n"),
        Snippet("used by a derived class", NET + "        return self.out(self.fc1(x))\n\n\nclass Deep(Net):\n    def forward(self, x):\n        return self.fc2(self.fc1(x))\n"),
        Snippet("used from outside", NET + "        return self.out(self.fc1(x))\n\nnet = Net()\nprint(net.fc2)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("left out", NET + "        return self.out(self.fc1(x).relu())\n", line=7),
        Snippet("another one used twice", NET + "        x = self.fc1(x).relu()\n        x = self.fc2(x)\n        return self.fc2(x)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        classes = module_classes(program)
        if not classes:
            return
        loaded, words = _read_names(program.tree)
        for cls in classes:
            base = cls.bases[0] if len(cls.bases) == 1 else None
            if not isinstance(base, Name) or "forward" not in cls.methods or _reaches(cls):
                continue
            for instance in program.instances_of(cls)[:1]:
                for name, value in instance.attributes.items():
                    node = instance.stores.get(name)
                    if name in loaded or name in words or node is None or not learns(value):
                        continue
                    if program.module_of(node) is cls.module:
                        yield self.finding(program, node, self.message.format(name=name))


def _reaches(cls: Class) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _REACH)
        or (isinstance(node, ast.Name) and node.id in _REACH)
        for node in ast.walk(cls.definition)
    )


def _read_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    loaded: set[str] = set()
    words: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            loaded.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
    return loaded, words
