"""For authors of rules: edits of source that keep its layout. Each gives the edits of one change, none where it cannot be made.

Comments are kept where they can be; a fix that would still lose one is refused later (`lint/patch.py`).
"""

from __future__ import annotations

import ast

from netmend.program.text.edit_items import delete_argument, delete_list_element, item_of
from netmend.program.text.edit_source import Edits, Source, is_bare, shares_brackets, span_of
from netmend.program.text.edit_statements import delete_statement, insert_after, insert_before
from netmend.program.text.positions import lines_of

__all__ = [
    "delete_argument",
    "delete_list_element",
    "delete_statement",
    "insert_after",
    "insert_before",
    "replace",
    "unwrap_call",
    "wrap",
]

# What may stand before a dot or a bracket without brackets of its own.
_PRIMARY = (
    ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.JoinedStr,
)  # fmt: skip
# Places where any expression may stand without brackets.
_OPEN = (
    ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.keyword, ast.List, ast.Dict, ast.Set, ast.Tuple
)  # fmt: skip


def replace(program: Source, node: ast.AST | None, text: str) -> Edits:
    """Put a text in the place of a node."""
    span = span_of(program, node) if node is not None else None
    if node is None or span is None:
        return ()
    if shares_brackets(program, node):
        text = f"({text})"
    before, after = _apart(program.text, span, text[:1], text[-1:])
    return (lines_of(program.text).edit(*span, f"{before}{text}{after}"),)


def wrap(program: Source, node: ast.expr, before: str, after: str) -> Edits:
    """Put something around an expression: `wrap(…, "float(", ")")`, `wrap(…, "", ".detach()")`. Brackets come where needed."""
    span = span_of(program, node)
    if span is None:
        return ()
    if shares_brackets(program, node):
        before, after = f"({before}", f"{after})"
    elif _needs_brackets(program, node, enclosed=before.endswith("(") and after.startswith(")")):
        before, after = f"{before}(", f"){after}"
    lines = lines_of(program.text)
    around = (lines.edit(span[0], span[0], before), lines.edit(span[1], span[1], after))
    return tuple(edit for edit in around if edit.text)


def unwrap_call(program: Source, call: ast.Call, argument: ast.expr | ast.keyword) -> Edits:
    """Put an argument in the place of the whole call: `softmax(x, dim=1)` → `x`."""
    span = span_of(program, call)
    item = item_of(program, call, argument)
    is_starred = isinstance(argument, ast.Starred) or (
        isinstance(argument, ast.keyword) and argument.arg is None
    )
    if span is None or item is None or is_starred:
        return ()
    start, end = item[1].start, item[1].end
    value = argument.value if isinstance(argument, ast.keyword) else argument
    if isinstance(argument, ast.keyword):
        start = program.text.index("=", start) + 1
        start += len(program.text[start:end]) - len(program.text[start:end].lstrip())
    if shares_brackets(program, argument):
        start, end = span_of(program, argument) or (start, end)
    before, after = _apart(program.text, span, program.text[start], program.text[end - 1])
    if span_of(program, value) == (start, end) and _loosens(program, call, value, program.text[start:end]):
        before, after = "(", ")"
    lines = lines_of(program.text)
    edits = (lines.edit(span[0], start, before), lines.edit(end, span[1], after))
    return edits if end < span[1] else edits[:1]


def _loosens(program: Source, call: ast.Call, value: ast.expr, text: str) -> bool:
    """Whether an argument needs brackets once the call around it is gone."""
    if "\n" in text or "\r" in text:
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            return True
    if isinstance(value, (ast.NamedExpr, ast.Yield, ast.YieldFrom)):
        return True
    if _is_primary(value):
        return False
    parent = program.parent(call)
    if isinstance(parent, ast.Call):
        return parent.func is call
    return not isinstance(parent, _OPEN)


def _needs_brackets(program: Source, node: ast.expr, enclosed: bool) -> bool:
    if isinstance(node, ast.Tuple):
        return is_bare(program, node)
    if enclosed:
        return isinstance(node, (ast.Yield, ast.YieldFrom))
    return not _is_primary(node)


def _is_primary(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, (int, float, complex))  # `1.mean()` is no Python
    return isinstance(node, _PRIMARY)


def _apart(text: str, span: tuple[int, int], first: str, last: str) -> tuple[str, str]:
    """Blanks that keep words apart once brackets between them are gone: `return(f)(x)`, `f(x)if y`."""
    start, end = span
    before = " " if _is_word(text[start - 1 : start]) and _is_word(first) else ""
    after = " " if _is_word(text[end : end + 1]) and _is_word(last) else ""
    return before, after


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
