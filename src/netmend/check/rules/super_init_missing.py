from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Class, Name, Value
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import module_classes, self_name
from netmend.program.text.edits import insert_before
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\n"
USE = "\n    def forward(self, x):\n        return self.fc(x)\n"


@register
class SuperInitMissing(StaticRule):
    """A module's `__init__` never calls `super().__init__()`.

    `nn.Module` prepares its tables of layers and parameters there. Without it the first layer that is stored, or the first call of
    the model, stops with an AttributeError.

    Make `super().__init__()` the first line of `__init__`.
    """

    code = "S304"
    cause = "ARC-INIT-MODEL"
    message = "This module's __init__ never calls super().__init__(); make it the first line."
    triggers = ("Module)", "LightningModule")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("called", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n"),
        Snippet("old spelling", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        nn.Module.__init__(self)\n        self.fc = nn.Linear(2, 1)\n"),
        Snippet("no __init__ of its own", HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x\n"),
        Snippet("no module", HEAD + "class Trainer:\n    def __init__(self, net):\n        self.net = net\n"),
        Snippet("never called as a module", HEAD + "class Sampler(nn.Module):\n    def __init__(self, mode):\n        self.mode = mode\n\n    def sample(self, x):\n        return x\n"),
        Snippet("abstract", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        raise NotImplementedError\n"),
        Snippet("a parameter is no module", HEAD + "class Scale(nn.Parameter):\n    def __init__(self, value):\n        self.value = value\n"),
        Snippet("base of unknown kind", HEAD + "from .base import Base\n\nclass Net(Base, nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 1)\n"),
        Snippet("prepared by the class of the class", HEAD + "class Meta(type):\n    def __call__(cls, *args):\n        made = cls.__new__(cls)\n        nn.Module.__init__(made)\n        made.__init__(*args)\n"
                "        return made\n\n\nclass Module(nn.Module, metaclass=Meta):\n    pass\n\n\nclass Net(Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 1)\n"),
        Snippet("prepared by a helper", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        self.prepare()\n        self.fc = nn.Linear(2, 1)\n\n"
                "    def prepare(self):\n        super().__init__()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("forgotten", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 1)\n" + USE, line=5,
                fixed=HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n" + USE),
        Snippet("behind a docstring", HEAD + 'class Net(torch.nn.Module):\n    def __init__(self, width):\n        """Make it."""\n        self.width = width\n' + USE, line=5,
                fixed=HEAD + 'class Net(torch.nn.Module):\n    def __init__(self, width):\n        """Make it."""\n        super().__init__()\n        self.width = width\n' + USE),
        Snippet("in a derived class", HEAD + "class Base(nn.Module):\n    def forward(self, x):\n        return self.fc(x)\n\n\nclass Net(Base):\n"
                "    def __init__(self):\n        self.fc = nn.Linear(2, 1)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
            yield self.finding(program, method.definition, fix=_fix(program, cls, method.definition))


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
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and node.attr in (
            "__init__",
            "__dict__",
            "_modules",
            "_parameters",
            "__setstate__",
        ):
            return True
        if isinstance(node, ast.Name) and node.id in ("super", "exec", "__class__"):
            return True
    return False


def _stores(definition: ast.FunctionDef) -> bool:
    owner = self_name(definition)
    if any(isinstance(node, ast.Raise) for node in definition.body):
        return False
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
        for node in ast.walk(definition)
    )


def _fix(program: Program, cls: Class, definition: ast.FunctionDef) -> Fix | None:
    """Only where the base is `nn.Module` itself, whose `__init__` needs nothing."""
    if (
        len(cls.bases) != 1
        or not isinstance(cls.bases[0], Name)
        or cls.bases[0].qualified != "torch.nn.Module"
    ):
        return None
    body = definition.body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    edits = insert_before(program, body[1] if is_text else body[0], "super().__init__()")
    return Fix("Call super().__init__() first", edits, "safe") if edits else None
