"""For authors of rules: edits of source that keep its layout. Each gives the edits of one change, none where it cannot be made.

Comments are kept where they can be; a fix that would still lose one is refused later (`check/patch.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from netmend.program.text.edit_source import (
    Edits,
    Item,
    Items,
    Source,
    is_bare,
    items_of,
    shares_brackets,
    span_of,
)
from netmend.program.text.file import block_of
from netmend.program.text.positions import lines_of

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


_DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match, *_DECORATED
)  # fmt: skip


def delete_statement(program: Source, statement: ast.stmt) -> Edits:
    """Take a statement out with its line; the only one of a block becomes `pass`. A comment behind it stays."""
    where = _Where.of(program, statement)
    if where is None:
        return ()
    lines, text = lines_of(program.text), program.text
    if where.is_alone:
        return (lines.edit(where.start, where.end, "pass"),)
    if where.next_start is not None:
        return (lines.edit(where.start, where.next_start, ""),)
    if where.previous_end is not None:
        return (lines.edit(where.previous_end, where.end, ""),)
    if not where.is_first_on_line:
        return ()
    first, last = lines.place(where.start)[0], lines.place(where.end)[0]
    rest = text[where.end : lines.end(last)].lstrip(" \t\f;")
    if rest:
        return (lines.edit(where.start, lines.end(last) - len(rest), ""),)
    return (lines.edit(lines.start(first), lines.start(last + 1), ""),)


def insert_before(program: Source, statement: ast.stmt, text: str) -> Edits:
    """Put statements before another; the text's lines are indented like it."""
    where = _Where.of(program, statement)
    if where is None:
        return ()
    lines = lines_of(program.text)
    if not where.is_first_on_line:
        return (lines.edit(where.start, where.start, f"{text}; "),) if _is_simple(text) else ()
    line_start = lines.start(lines.place(where.start)[0])
    return (lines.edit(line_start, line_start, f"{_indented(text, where.indentation)}\n"),)


def insert_after(program: Source, statement: ast.stmt, text: str) -> Edits:
    """Put statements after another, behind all of its block; the text's lines are indented like it."""
    where = _Where.of(program, statement)
    if where is None:
        return ()
    lines = lines_of(program.text)
    if not where.is_first_on_line or where.next_start is not None:
        return (lines.edit(where.end, where.end, f"; {text}"),) if _is_simple(text) else ()
    line_end = lines.end(lines.place(where.end)[0])
    return (lines.edit(line_end, line_end, f"\n{_indented(text, where.indentation)}"),)


class _Where:
    """A statement among its neighbours, in offsets."""

    def __init__(
        self, program: Source, statement: ast.stmt, span: tuple[int, int], block: Sequence[ast.stmt]
    ) -> None:
        lines = lines_of(program.text)
        index = next(index for index, other in enumerate(block) if other is statement)
        self.start, self.end = span
        self.is_alone = len(block) == 1 and not isinstance(
            program.parent(statement), (ast.Module, type(None))
        )
        before = program.text[lines.start(lines.place(self.start)[0]) : self.start]
        self.is_first_on_line = not before.strip(" \t\f\ufeff")
        self.indentation = before.strip("\ufeff") if self.is_first_on_line else ""
        self.previous_end = self.next_start = None
        if index > 0:
            previous = span_of(program, block[index - 1])
            if previous is not None and lines.place(previous[1])[0] == lines.place(self.start)[0]:
                self.previous_end = previous[1]
        if index + 1 < len(block):
            following = span_of(program, block[index + 1])
            if following is not None and lines.place(following[0])[0] == lines.place(self.end)[0]:
                self.next_start = following[0]

    @classmethod
    def of(cls, program: Source, statement: ast.stmt) -> _Where | None:
        """None where lines cannot be put or taken: an `elif`, a line that continues another, a node of another file."""
        span = span_of(program, statement)
        if span is None:
            return None
        start, end = span
        if isinstance(statement, _DECORATED) and statement.decorator_list:
            decorator = span_of(program, statement.decorator_list[0])
            if decorator is None:
                return None
            start = program.text.rindex("@", 0, decorator[0])
        text, lines = program.text, lines_of(program.text)
        line = lines.place(start)[0]
        is_elif = isinstance(statement, ast.If) and text.startswith("elif", start)
        if is_elif or (line > 1 and lines.content(line - 1).endswith("\\")):
            return None
        return cls(program, statement, (start, end), block_of(program, statement))


def _is_simple(text: str) -> bool:
    """Whether a text may stand beside others on a line."""
    return "\n" not in text and not any(isinstance(statement, _BLOCKS) for statement in ast.parse(text).body)


def _indented(text: str, indentation: str) -> str:
    return "\n".join(f"{indentation}{line}" if line.strip() else "" for line in text.rstrip("\n").split("\n"))


def delete_argument(program: Source, call: ast.Call, argument: ast.expr | ast.keyword) -> Edits:
    """Take an argument out of a call, with its comma."""
    found = item_of(program, call, argument)
    if found is None or shares_brackets(program, argument):
        return ()
    return _without(program, *found)


def delete_list_element(program: Source, whole: ast.List | ast.Tuple | ast.Set, element: ast.expr) -> Edits:
    """Take an element out of a list, tuple or set, with its comma."""
    found = item_of(program, whole, element)
    if found is None:
        return ()
    items, item = found
    if isinstance(whole, ast.List):
        return _without(program, items, item)
    if len(items.items) == 1:
        return ()  # `{}` is a dictionary, and a tuple without brackets would be nothing
    edits = _without(program, items, item)
    if isinstance(whole, ast.Tuple) and len(items.items) == 2:
        return _as_single(program, items, item)
    return edits


def _without(program: Source, items: Items, item: Item) -> Edits:
    lines, text = lines_of(program.text), program.text
    position = items.items.index(item)
    end = item.comma.end if item.comma is not None else item.end
    following = items.after(end)
    is_first_on_line = not text[lines.start(lines.place(item.start)[0]) : item.start].strip()
    if following is not None and following.is_comment and not _line_ends_between(text, end, following.start):
        # The comment behind it stays; on a line of its own it takes the item's place.
        if is_first_on_line or position == 0:
            return (lines.edit(item.start, following.start, ""),)
        return (lines.edit(items.before(item.start), end, ""),)
    if len(items.items) == 1:
        if items.comments(items.start, items.end):
            return (lines.edit(items.before(item.start), end, ""),)
        return (lines.edit(items.start, items.end, ""),)
    if position == len(items.items) - 1:
        before = items.before(item.start)
        previous = items.items[position - 1].comma
        if item.comma is None and previous is not None and before == previous.end:
            return (lines.edit(previous.start, end, ""),)
        if item.comma is None:
            return (lines.edit(item.start, end, ""),)  # after a comment: what closes stays on its line
        return (lines.edit(before, end, ""),)
    if (
        following is not None
        and not is_first_on_line
        and _line_ends_between(text, end, following.start)
        and position
    ):
        return (lines.edit(items.before(item.start), end, ""),)
    return (lines.edit(item.start, following.start if following is not None else end, ""),)


def _as_single(program: Source, items: Items, item: Item) -> Edits:
    """A tuple of two loses one: the comma that makes it a tuple stays."""
    lines = lines_of(program.text)
    first, second = items.items
    if item is second:
        end = second.comma.end if second.comma is not None else second.end
        assert first.comma is not None
        return (lines.edit(first.comma.end, end, ""),)
    edits: Edits = (lines.edit(first.start, second.start, ""),)
    return edits if second.comma is not None else (*edits, lines.edit(second.end, second.end, ","))


def item_of(program: Source, whole: ast.expr, part: ast.AST) -> tuple[Items, Item] | None:
    span = span_of(program, whole)
    if span is None:
        return None
    if isinstance(whole, ast.Call):
        nodes: list[ast.AST] = [*whole.args, *whole.keywords]
    elif isinstance(whole, (ast.List, ast.Tuple, ast.Set)):
        nodes = list(whole.elts)
    else:
        return None
    placed = sorted((place, node) for node in nodes if (place := span_of(program, node)) is not None)
    index = next((index for index, (_, node) in enumerate(placed) if node is part), None)
    if index is None or len(placed) != len(nodes):
        return None
    bracketed = not isinstance(whole, ast.Tuple) or not is_bare(program, whole)
    items = items_of(program.text, *span, [place for place, _ in placed], bracketed)
    return items, items.items[index]


def _line_ends_between(text: str, start: int, end: int) -> bool:
    return "\n" in text[start:end] or "\r" in text[start:end]
