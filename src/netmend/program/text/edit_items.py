"""Edits that take an item out of a call, list, tuple or set, with its comma and without its comments."""

from __future__ import annotations

import ast

from netmend.program.text.edit_source import Edits, Source, is_bare, shares_brackets, span_of
from netmend.program.text.items import Item, Items, items_of
from netmend.program.text.positions import lines_of


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
