"""R305."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.source import last_name
from netmend.repair.code import File
from netmend.repair.naming import qualified, spelled
from netmend.repair.repair import Case, Example, change, register
from netmend.repair.writing import delete_argument, replace, unwrap_method, wrap
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FREE, Change, FileEdits

_LISTS = (ast.List, ast.ListComp, ast.Tuple, ast.GeneratorExp)
_DICTS = (ast.Dict, ast.DictComp)
_TAIL = """
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))
    loss.backward()
    optimizer.step()
"""


@register
@dataclass(frozen=True)
class RegisterLayers:
    """Put layers that are kept in a plain list or dict into an nn.ModuleList or nn.ModuleDict; make a tensor an nn.Parameter.

    Only then parameters() lists them, so that the optimiser trains them.
    """

    code: ClassVar[str] = "R305"
    cures: ClassVar[tuple[str, ...]] = ("ARC-INIT-MODEL", "OPT-PARAMS")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        seen: set[ast.AST] = set()
        for file, assignment in self._assignments(case):
            if assignment in seen or assignment.value is None:
                continue
            seen.add(assignment)
            target = assignment.targets[0] if isinstance(assignment, ast.Assign) else assignment.target
            for kind, edits in self._registered(file, assignment.value):
                title = f"{file.source(target)} as {kind}"
                yield from change(self, case, title, edits, knob=f"registration of {file.source(target)}")

    def _assignments(self, case: Case) -> Iterator[tuple[File, ast.Assign | ast.AnnAssign]]:
        """Assignments to attributes that hold what is not registered: by where the layers were made, and by the fault's line."""
        lost = [m for m in case.trace.all(ModuleFact) if not m.registered]
        sites = [case.fault.site] if case.fault is not None and case.cause == "ARC-INIT-MODEL" else []
        for site in (*sites, *(module.created for module in lost)):
            found = case.code.statement_at(site)
            if found is None:
                continue
            file, statement = found
            if _is_attribute(statement) and isinstance(statement, ast.Assign | ast.AnnAssign):
                yield file, statement
            else:
                yield from _container(file, statement)

    def _registered(self, file: File, value: ast.expr) -> Iterator[tuple[str, FileEdits]]:
        """`[…]` → `nn.ModuleList([…])` and its like."""
        made = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
        parameters = any(last_name(node.func) == "Parameter" for node in made)
        layers = any(
            last_name(node.func)[:1].isupper() and last_name(node.func) != "Parameter" for node in made
        )
        is_list = isinstance(value, _LISTS) or _is_call_of(value, "list", "tuple")
        is_dict = isinstance(value, _DICTS) or _is_call_of(value, "dict")
        if is_list or is_dict:
            kind = "Parameter" if parameters and not layers else "Module"
            kind += "List" if is_list else "Dict"
            yield f"nn.{kind}", _in(file, value, kind)
        elif isinstance(value, ast.Name):  # a local list that was filled before
            filled = _made_as(file, value)
            if filled is not None:
                kind = "ModuleDict" if isinstance(filled, _DICTS) else "ModuleList"
                yield f"nn.{kind}", _in(file, value, kind)
        elif isinstance(value, ast.Call) and last_name(value.func) not in ("ModuleList", "Parameter"):
            yield "nn.Parameter", _as_parameter(file, value)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a list",
            before=f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 8)
        self.rest = [nn.Linear(8, 8), nn.Linear(8, 1)]
    def forward(self, x):
        x = self.a(x)
        for layer in self.rest:
            x = layer(x.relu())
        return x
{_TAIL}""",
            old="[nn.Linear(8, 8), nn.Linear(8, 1)]",
            new="nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 1)])",
            mark="self.rest = ",
            component="model",
        ),
        Example(
            "a list that is filled later",
            before=f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 8)
        self.rest = []
        for width in (8, 1):
            self.rest.append(nn.Linear(8, width))
    def forward(self, x):
        x = self.a(x)
        for layer in self.rest:
            x = layer(x.relu())
        return x
{_TAIL}""",
            old="self.rest = []",
            new="self.rest = nn.ModuleList()",
            mark="append(",
            component="model",
        ),
        Example(
            "a tensor",
            before=f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 1)
        self.scale = torch.ones(1, requires_grad=True)
    def forward(self, x):
        return self.scale * self.a(x)
{_TAIL}""",
            old="torch.ones(1, requires_grad=True)",
            new="nn.Parameter(torch.ones(1))",
            mark="self.scale = ",
            component="model",
        ),
        Example(
            "registered already",
            before=f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rest = nn.ModuleList([nn.Linear(2, 8), nn.Linear(8, 1)])
    def forward(self, x):
        return self.rest[1](self.rest[0](x).relu())
{_TAIL}""",
            mark="self.rest = ",
            component="model",
        ),
    )


def _is_attribute(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return isinstance(statement.targets[0], ast.Attribute)
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Attribute)


def _is_call_of(value: ast.expr, *names: str) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in names


def _container(file: File, statement: ast.stmt) -> Iterator[tuple[File, ast.Assign | ast.AnnAssign]]:
    """Where the container comes to its attribute: `self.x = []` for `self.x.append(…)`, `self.x = layers` for a local list."""
    owner = file.owner(statement)
    held = _filled(statement)
    if owner is None or held is None:
        return
    text = ast.dump(held).replace("Store", "Load")
    for node in ast.walk(owner):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not _is_attribute(node) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if ast.dump(target).replace("Store", "Load") == text or (
            isinstance(held, ast.Name) and isinstance(node.value, ast.Name) and node.value.id == held.id
        ):
            yield file, node


def _filled(statement: ast.stmt) -> ast.expr | None:
    """What a statement puts something into."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr in ("append", "extend", "insert", "update"):
            return function.value
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return target.value if isinstance(target, ast.Subscript) else target
    return None


def _made_as(file: File, name: ast.Name) -> ast.expr | None:
    """The list or dict that a local name was given."""
    scope: ast.AST = file.function(name) or file.tree
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name.id for target in node.targets
        ):
            return node.value if isinstance(node.value, (*_LISTS, *_DICTS)) else None
    return None


def _in(file: File, value: ast.expr, kind: str) -> FileEdits:
    name, extra = spelled(file, f"torch.nn.{kind}", like=_base(file, value))
    empty = (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )
    if empty or (isinstance(value, ast.Call) and not value.args and not value.keywords):
        return (*replace(file, value, f"{name}()"), *extra)
    if isinstance(value, ast.DictComp) and _counts(value):
        return (
            *wrap(file, value, f"{name}(", ")"),
            *wrap(file, value.key, "str(", ")"),
            *_by_text(file, value),
            *extra,
        )
    return (*wrap(file, value, f"{name}(", ")"), *extra)


def _base(file: File, value: ast.expr) -> ast.expr | None:
    """A name of torch.nn in use nearby."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and qualified(file, node.func).startswith("torch.nn."):
            return node.func
    return None


def _counts(value: ast.DictComp) -> bool:
    """Keys from range() or enumerate() are numbers, which a ModuleDict does not take."""
    first = value.generators[0]
    return (
        isinstance(first.iter, ast.Call)
        and last_name(first.iter.func) in ("range", "enumerate")
        and isinstance(value.key, ast.Name)
    )


def _by_text(file: File, value: ast.DictComp) -> FileEdits:
    """Reads of the dictionary by number become reads by text."""
    parent, owner = file.parent(value), file.owner(value)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if owner is None or not isinstance(target, ast.Attribute):
        return ()
    reads = [
        node.slice
        for node in ast.walk(owner)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == target.attr
    ]
    return tuple(edit for read in reads for edit in wrap(file, read, "str(", ")"))


def _as_parameter(file: File, value: ast.Call) -> FileEdits:
    """`torch.ones(3, requires_grad=True)` → `nn.Parameter(torch.ones(3))`."""
    name, extra = spelled(file, "torch.nn.Parameter")
    wanted = next((k for k in value.keywords if k.arg == "requires_grad"), None)
    if last_name(value.func) == "requires_grad_" and isinstance(value.func, ast.Attribute):
        inner = file.source(value.func.value)
        return (*replace(file, value, f"{name}({inner})"), *extra) if unwrap_method(file, value) else ()
    if last_name(value.func) == "Variable" and value.args:
        return (*replace(file, value, f"{name}({file.source(value.args[0])})"), *extra)
    if not qualified(file, value.func).startswith("torch.") and wanted is None:
        return ()
    if last_name(value.func)[:1].isupper():
        return ()
    gone = delete_argument(file, value, wanted) if wanted is not None else ()
    return (*wrap(file, value, f"{name}(", ")"), *gone, *extra)
