from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Body, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, resolved
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import bodies, is_module, module_classes
from netmend.program.text.edits import delete_statement, insert_before
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self, width=4):\n"


@register
class LayersBeforeSuperInit(StaticRule):
    """A layer or parameter is stored in a module before `super().__init__()` is called.

    The tables that hold layers do not exist yet: the line stops with "cannot assign module before Module.__init__() call".

    Move `super().__init__()` to the top of `__init__`.
    """

    code = "S305"
    cause = "ARC-INIT-MODEL"
    message = "This is assigned before super().__init__(), which must come first."
    triggers = ("Module)", "LightningModule")
    patterns = (
        r"self\.\w+\s*=[^\n]*(?:nn\.|Parameter)[^\n]*\n(?:[^\n]*\n){0,3}?[ \t]+super\(",
        LITERAL_LAYERS,
    )

    GOOD = (
        Snippet("called first", HEAD + "        super().__init__()\n        self.fc = nn.Linear(2, width)\n"),
        Snippet("only numbers before", HEAD + "        width = width * 2\n        self.width = width\n        super().__init__()\n        self.fc = nn.Linear(2, width)\n"),
        Snippet("made before, stored after", HEAD + "        fc = nn.Linear(2, width)\n        super().__init__()\n        self.fc = fc\n"),
        Snippet("given to the base class", "from torch import nn\n\nclass Block(nn.Sequential):\n    def __init__(self, width):\n"
                "        layers = [nn.Linear(width, width), nn.ReLU()]\n        super().__init__(*layers)\n"),
        Snippet("on two paths", HEAD + "        if width:\n            super().__init__()\n            self.fc = nn.Linear(2, width)\n        else:\n"
                "            super().__init__()\n            self.fc = nn.Identity()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("layer first", HEAD + "        self.fc = nn.Linear(2, width)\n        super().__init__()\n", line=6,
                fixed=HEAD + "        super().__init__()\n        self.fc = nn.Linear(2, width)\n"),
        Snippet("parameter first", "import torch\n\nclass Scale(torch.nn.Module):\n    def __init__(self):\n        self.size = 3\n"
                "        self.weight = torch.nn.Parameter(torch.ones(3))\n        super(Scale, self).__init__()\n", line=6,
                fixed="import torch\n\nclass Scale(torch.nn.Module):\n    def __init__(self):\n        super(Scale, self).__init__()\n        self.size = 3\n"
                "        self.weight = torch.nn.Parameter(torch.ones(3))\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for cls in module_classes(program):
            for body in bodies(program, cls, "__init__")[:1]:
                yield from self._examined(program, cls, body)

    def _examined(self, program: Program, cls: Class, body: Body) -> Iterator[Finding]:
        first: Event | None = None
        for event in body.blocks[0].items:
            if not isinstance(event, Event):
                if any(_is_init(inner) for inner in event.events()) and first is None:
                    return
                continue
            if first is None and event.kind == STORE and _is_registered(event, body):
                first = event
            if _is_init(event):
                if first is not None:
                    yield self.finding(program, first.node, fix=_fix(program, cls, event))
                return


def _is_init(event: Event) -> bool:
    node = event.node
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    )


def _is_registered(event: Event, body: Body) -> bool:
    """`self.name = layer` or parameter."""
    target = event.target
    if (
        target is None
        or target.base is None
        or resolved(target.base) is not body.function.owner
        or not target.name
    ):
        return False
    value = event.value
    return is_module(value) or (isinstance(value, Call) and value.qualified == "torch.nn.Parameter")


def _fix(program: Program, cls: Class, event: Event) -> Fix | None:
    """Move the call up; it must not depend on what stands before it."""
    call = event.node
    definition = cls.methods["__init__"].definition
    statement = program.statement(call)
    if (
        not isinstance(call, ast.Call)
        or call.args
        or call.keywords
        or not isinstance(definition, ast.FunctionDef)
    ):
        return None
    if not isinstance(statement, ast.Expr) or statement not in definition.body:
        return None
    body = definition.body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    top = insert_before(program, body[1] if is_text else body[0], program.source(call))
    gone = delete_statement(program, statement)
    return Fix("Move super().__init__() to the top", (*top, *gone), "safe") if top and gone else None
