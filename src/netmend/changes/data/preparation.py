"""What training data goes through on its way to the model, and the same for data that misses it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.data.data_origins import Flow, Step
from netmend.program.source.bindings import is_generator
from netmend.program.text.file import File
from netmend.program.text.queries import holds, inside, last_name

_SCALERS = ("fit_transform", "transform")
_ARITHMETIC = (ast.Sub, ast.Div, ast.Mult, ast.Add)


@dataclass(frozen=True)
class Preparation:
    """An expression that changes data: `(x - mean) / std`, with the data in it."""

    step: Step
    value: ast.expr
    data: ast.expr

    @property
    def file(self) -> File:
        return self.step.file

    def of(self, data: str) -> str:
        """The same for other data; a scaler is not fitted again."""
        file, value = self.file, self.value
        whole, inner = file.source(value), file.source(self.data)
        start = file.span(self.data)[0] - file.span(value)[0]
        text = whole[:start] + data + whole[start + len(inner) :]
        return text.replace(".fit_transform(", ".transform(", 1)

    def uses(self, name: str) -> bool:
        """Whether a name occurs apart from the data itself: `x.mean(0)`."""
        return name in self.names

    @property
    def names(self) -> set[str]:
        """Names that it needs apart from the data."""
        return {node.id for node in inside(self.value, ast.Name) if not holds(self.data, node)}


def preparations(case: Case, flow: Flow) -> list[Preparation]:
    """All of a flow, the nearest to the model first; each once, at its outermost expression."""
    found: list[Preparation] = []
    covered: set[int] = set()
    for place, step in enumerate(flow):
        if step.path or id(step.node) in covered:
            continue
        data = _data_in(case, step.node)
        # What the function is given must be what it hands on, not how much of it to make.
        if data is not None and any(other.node is data for other in flow[place:]):
            covered |= {id(node) for node in inside(step.node, ast.expr)}
            found.append(Preparation(step, step.node, data))
    return found


def same_kind(one: Preparation, other: Preparation) -> bool:
    """Whether two expressions do the same to different data."""
    return _form(one) == _form(other)


def _form(preparation: Preparation) -> tuple[str, ...]:
    return tuple(
        type(node).__name__
        for node in inside(preparation.value, ast.operator, ast.Call)
        if not holds(preparation.data, node)
    )


def _data_in(case: Case, node: ast.expr) -> ast.expr | None:
    """The data in an expression that prepares it; None where it does not."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        inner: ast.expr = node
        shifts = False
        while isinstance(inner, ast.BinOp):
            shifts = shifts or isinstance(inner.op, ast.Sub | ast.Div)
            inner = inner.right if isinstance(inner.left, ast.Constant) else inner.left
        # Sums and products alone mix samples or add noise, as augmentation does.
        prepared = shifts and isinstance(inner, ast.Name | ast.Subscript | ast.Attribute | ast.Call)
        return inner if prepared else None
    if isinstance(node, ast.Call) and last_name(node.func) in _SCALERS and len(node.args) == 1:
        return node.args[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        own = case.code.definition(node.func.id, ast.FunctionDef)
        given = node.args[0]
        if own is None or not isinstance(own[1], ast.FunctionDef) or is_generator(own[1]):
            return None
        return given if isinstance(given, ast.Name | ast.Subscript | ast.Attribute) else None
    return None
