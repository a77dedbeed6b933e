"""Modules and the __init__ of nn.Module."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import STORE, Body, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Name, Value, resolved
from netmend.program.meaning.modules import bodies, is_module, module_classes, self_name
from netmend.program.meaning.sizes import LITERAL_LAYERS
from netmend.program.text.edits import delete_statement, insert_before
from netmend.program.text.queries import inside
from netmend.vocabulary.finding import Fix

MISSING_HEAD = "import torch\nfrom torch import nn\n\n"
USE = "\n    def forward(self, x):\n        return self.fc(x)\n"


class SuperInitMissing(StaticRule, code="S304", cause="ARC-INIT-MODEL"):
    """A module's `__init__` never calls `super().__init__()`.

    `nn.Module` prepares its tables of layers and parameters there. Without it the first layer that is stored, or the first call of
    the model, stops with an AttributeError.

    Make `super().__init__()` the first line of `__init__`.
    """

    message = "This module's __init__ never calls super().__init__(); make it the first line."
    triggers = ("Module)", "LightningModule")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("called", MISSING_HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n"),
        Snippet("never called as a module", MISSING_HEAD + "class Sampler(nn.Module):\n    def __init__(self, mode):\n        self.mode = mode\n\n    def sample(self, x):\n        return x\n"),
        Snippet("abstract", MISSING_HEAD + "class Net(nn.Module):\n    def __init__(self):\n        raise NotImplementedError\n"),
        Snippet("base of unknown kind", MISSING_HEAD + "from .base import Base\n\nclass Net(Base, nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 1)\n"),
        Snippet("prepared by the class of the class", MISSING_HEAD + "class Meta(type):\n    def __call__(cls, *args):\n        made = cls.__new__(cls)\n        nn.Module.__init__(made)\n        made.__init__(*args)\n"
                "        return made\n\n\nclass Module(nn.Module, metaclass=Meta):\n    pass\n\n\nclass Net(Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 1)\n"),
    )  # fmt: skip
    BAD = (
        mended("forgotten", MISSING_HEAD + "class Net(nn.Module):\n    def __init__(self):\n        + super().__init__()\n        self.fc = nn.Linear(2, 1)\n" + USE),
        mended("behind a docstring", MISSING_HEAD + 'class Net(torch.nn.Module):\n    def __init__(self, width):\n        """Make it."""\n        + super().__init__()\n'
                "        self.width = width\n" + USE, line=5),
        Snippet("in a derived class", MISSING_HEAD + "class Base(nn.Module):\n    def forward(self, x):\n        return self.fc(x)\n\n\nclass Net(Base):\n"
                "    def __init__(self):\n        self.fc = nn.Linear(2, 1)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for cls in module_classes(program):
            method = cls.methods.get("__init__")
            if method is None or not cls.is_known or not isinstance(method.definition, ast.FunctionDef):
                continue
            if any(_is_plain_call(part) for part in method.definition.body):
                continue
            if method.definition.decorator_list or any(
                _is_prepared_elsewhere(part) for part in cls.ancestry()
            ):
                continue
            if _prepares(cls.definition) or not _stores(method.definition) or cls.method("forward") is None:
                continue
            yield self.finding(
                program, method.definition, fix=_add_super_init(program, cls, method.definition)
            )


def _is_plain_call(statement: ast.stmt) -> bool:
    """`super().__init__(...)` on a line of its own: what nearly every class has, found without a walk."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr == "__init__"
    )


def _is_prepared_elsewhere(part: Value) -> bool:
    """A metaclass, a decorator or `__new__` may call `__init__` of the base."""
    if not isinstance(part, Class):
        return False
    own = {"__new__", "__init_subclass__", "__call__"} & set(part.methods)
    return bool(part.definition.keywords or part.definition.decorator_list or own)


def _prepares(definition: ast.AST) -> bool:
    """Does anything in the class call an `__init__`, or touch what it would make?"""
    made = ("__init__", "__dict__", "_modules", "_parameters", "__setstate__")
    return any(node.attr in made for node in inside(definition, ast.Attribute)) or any(
        node.id in ("super", "exec", "__class__") for node in inside(definition, ast.Name)
    )


def _stores(definition: ast.FunctionDef) -> bool:
    owner = self_name(definition)
    if any(isinstance(node, ast.Raise) for node in definition.body):
        return False
    return any(
        isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == owner
        for node in inside(definition, ast.Attribute)
    )


def _add_super_init(program: Program, cls: Class, definition: ast.FunctionDef) -> Fix | None:
    """Only where the base is `nn.Module` itself, whose `__init__` needs nothing."""
    if len(cls.bases) != 1 or not isinstance(cls.bases[0], Name):
        return None
    if cls.bases[0].qualified != "torch.nn.Module":
        return None
    body = definition.body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    edits = insert_before(program, body[1] if is_text else body[0], "super().__init__()")
    return Fix("Call super().__init__() first", edits, "safe")


LATE_HEAD = "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self, width=4):\n"


class LayersBeforeSuperInit(StaticRule, code="S305", cause="ARC-INIT-MODEL"):
    """A layer or parameter is stored in a module before `super().__init__()` is called.

    The tables that hold layers do not exist yet: the line stops with "cannot assign module before Module.__init__() call".

    Move `super().__init__()` to the top of `__init__`.
    """

    message = "This is assigned before super().__init__(), which must come first."
    triggers = ("Module)", "LightningModule")
    patterns = (
        r"self\.\w+\s*=[^\n]*(?:nn\.|Parameter)[^\n]*\n(?:[^\n]*\n){0,12}?[ \t]+super\(",
        LITERAL_LAYERS,
    )

    GOOD = (
        Snippet("called first", LATE_HEAD + "        super().__init__()\n        self.fc = nn.Linear(2, width)\n"),
        Snippet("made before, stored after", LATE_HEAD + "        fc = nn.Linear(2, width)\n        super().__init__()\n        self.fc = fc\n"),
        Snippet("on two paths", LATE_HEAD + "        if width:\n            super().__init__()\n            self.fc = nn.Linear(2, width)\n        else:\n"
                "            super().__init__()\n            self.fc = nn.Identity()\n"),
    )  # fmt: skip
    BAD = (
        mended("layer first", LATE_HEAD + "        + super().__init__()\n        self.fc = nn.Linear(2, width)\n        - super().__init__()\n", line=6),
        mended("parameter first", "import torch\n\nclass Scale(torch.nn.Module):\n    def __init__(self):\n        + super(Scale, self).__init__()\n"
                "        self.size = 3\n        self.weight = torch.nn.Parameter(torch.ones(3))\n        - super(Scale, self).__init__()\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for cls in module_classes(program):
            for body in bodies(program, cls, "__init__")[:1]:
                yield from self._examined(program, cls, body)

    def _examined(self, program: Program, cls: Class, body: Body) -> Findings:
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
                    yield self.finding(program, first.node, fix=_move_super_init(program, cls, event))
                return


def _is_init(event: Event) -> bool:
    node = event.node
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    )


def _is_registered(event: Event, body: Body) -> bool:
    """`self.name = layer` or parameter."""
    target = event.target
    if target is None or target.base is None or resolved(target.base) is not body.function.owner:
        return False
    if not target.name:
        return False
    value = event.value
    return is_module(value) or (isinstance(value, Call) and value.qualified == "torch.nn.Parameter")


def _move_super_init(program: Program, cls: Class, event: Event) -> Fix | None:
    """Move the call up; it must not depend on what stands before it."""
    call = event.node
    definition = cls.methods["__init__"].definition
    statement = program.statement(call)
    if not isinstance(call, ast.Call) or call.args or call.keywords:
        return None
    if not isinstance(definition, ast.FunctionDef):
        return None
    if not isinstance(statement, ast.Expr) or statement not in definition.body:
        return None
    body = definition.body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    top = insert_before(program, body[1] if is_text else body[0], program.source(call))
    gone = delete_statement(program, statement)
    return Fix("Move super().__init__() to the top", (*top, *gone), "safe") if top and gone else None
