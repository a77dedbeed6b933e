"""Tensors to be trained that a module keeps in a plain list or dict."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.network.registration import DICTS, LISTS, is_attribute
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name

_FILLING = ("append", "extend", "insert", "update")


def holds_tensors(file: File, value: ast.expr, target: ast.expr) -> bool:
    """Whether a list that starts empty is filled with tensors that require gradients."""
    owner = file.owner(value)
    return owner is not None and any(is_trained(part) for part in _put_in(owner, last_name(target)))


def _put_in(owner: ast.ClassDef, name: str) -> Iterator[ast.expr]:
    for node in inside(owner, ast.Call, ast.AugAssign, ast.Assign):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
            if _base(node.func.value) == name:
                yield from node.args
        elif isinstance(node, ast.AugAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
            if _base(target) == name and (
                isinstance(node, ast.AugAssign) or isinstance(target, ast.Subscript)
            ):
                yield node.value


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return last_name(node)


def is_trained(value: ast.expr) -> bool:
    """`torch.zeros(3, requires_grad=True)`, `torch.randn(3).requires_grad_()`, `nn.Parameter(…)`."""
    for node in inside(value, ast.Call):
        if last_name(node.func) in ("requires_grad_", "Parameter"):
            return True
        if any(k.arg == "requires_grad" and ast.unparse(k.value) == "True" for k in node.keywords):
            return True
    return False


def tensors_beside(file: File, statement: ast.stmt) -> Iterator[tuple[File, ast.stmt]]:
    """Other attributes of the same class that keep tensors to be trained, alone or in a list."""
    owner = file.owner(statement)
    for node in inside(owner, ast.Assign):
        if not is_attribute(node) or node is statement:
            continue
        plain = isinstance(node.value, (*LISTS, *DICTS)) or (
            isinstance(node.value, ast.Call)
            and last_name(node.value.func) not in ("Parameter", "ParameterList")
        )
        if plain and (is_trained(node.value) or holds_tensors(file, node.value, node.targets[0])):
            yield file, node
