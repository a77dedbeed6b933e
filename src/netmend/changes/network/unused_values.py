"""Where a value that nobody uses belongs: beside or in the place of another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.text.file import File
from netmend.program.text.queries import last_name

_JOINING = (
    "cat",
    "concat",
    "concatenate",
    "stack",
    "hstack",
    "vstack",
    "bmm",
    "matmul",
    "add",
    "mul",
    "cosine_similarity",
)


def given_twice(file: File, nodes: list[ast.AST], name: str) -> Iterator[ast.expr]:
    """The second of two equal parts of a joining call or of a sum: `torch.cat([a, a])`, `a + a`."""
    for node in nodes:
        parts: list[ast.expr] = []
        if isinstance(node, ast.Call) and last_name(node.func) in _JOINING and node.args:
            first = node.args[0]
            parts = list(first.elts) if isinstance(first, ast.List | ast.Tuple) else node.args[:2]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.MatMult):
            parts = [node.left, node.right]
        texts = [file.source(part) for part in parts]
        if name not in texts:
            for index, text in enumerate(texts):
                if text in texts[:index] and isinstance(parts[index], ast.Name):
                    yield parts[index]


def taken_instead(call: ast.Call, statement: ast.stmt, after: list[ast.AST]) -> Iterator[ast.Name]:
    """The next use of the value that the part was given."""
    value = call.args[0] if call.args else None
    if not isinstance(value, ast.Name):
        return
    end = statement.end_lineno or statement.lineno
    uses = [
        node
        for node in after
        if isinstance(node, ast.Name)
        and node.id == value.id
        and isinstance(node.ctx, ast.Load)
        and node.lineno > end
    ]
    if uses and not any(
        isinstance(node, ast.Name)
        and node.id == value.id
        and isinstance(node.ctx, ast.Store)
        and node.lineno > end
        for node in after
    ):
        yield min(uses, key=lambda node: (node.lineno, node.col_offset))
