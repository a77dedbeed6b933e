"""Statements moved, taken out with what they leave empty, and taken out of the block around them."""

from __future__ import annotations

import ast

from netmend.program.source.writing import delete_statement, insert_after, insert_before
from netmend.program.text.file import File, block_of
from netmend.program.text.positions import lines_of
from netmend.program.text.spans import meet, spans_of
from netmend.vocabulary.change import FileEdits


def text_of(file: File, statement: ast.stmt, comment: bool = True) -> str:
    """A statement's lines without their common indentation, with the comment behind it."""
    place, lines = file.place(statement), lines_of(file.text)
    indentation = lines.content(place.line)[: place.column]
    text = file.source(statement)
    rest = lines.content(place.end_line)[place.end_column :]
    if comment and rest.strip().startswith("#"):
        text += rest.rstrip()
    first, *others = text.split("\n")
    return "\n".join([first, *(line.removeprefix(indentation) for line in others)])


def taken_out(file: File, statement: ast.stmt) -> FileEdits:
    """Take a statement out with its line and its comment; blocks that would be left empty go as well."""
    statement = emptied(file, statement)
    lines, place = lines_of(file.text), file.place(statement)
    before = lines.content(place.line)[: place.column]
    rest = lines.content(place.end_line)[place.end_column :].strip()
    block = block_of(file, statement)
    whole = not before.strip() and (not rest or rest.startswith("#"))
    if whole and (len(block) > 1 or file.parent(statement) is file.tree):
        return file.edits(lines.edit(lines.start(place.line), lines.start(place.end_line + 1), ""))
    return delete_statement(file, statement)


def emptied(file: File, statement: ast.stmt) -> ast.stmt:
    """The outermost `if`, `for` or `with` that holds nothing but a statement; else the statement itself."""
    while True:
        parent = file.parent(statement)
        alone = isinstance(parent, ast.If | ast.For | ast.With) and len(parent.body) == 1
        if not alone or getattr(parent, "orelse", []) or not isinstance(parent, ast.stmt):
            return statement
        if file.source(parent).startswith("elif"):
            return statement
        statement = parent


def moved_before(file: File, statement: ast.stmt, anchor: ast.stmt) -> FileEdits:
    """Put a statement before another one."""
    return combined(
        file, taken_out(file, statement), insert_before(file, anchor, text_of(file, statement)), False
    )


def moved_after(file: File, statement: ast.stmt, anchor: ast.stmt) -> FileEdits:
    """Put a statement behind another one and its block."""
    return combined(
        file, taken_out(file, statement), insert_after(file, anchor, text_of(file, statement)), True
    )


def combined(file: File, removal: FileEdits, insertion: FileEdits, after: bool) -> FileEdits:
    """A removal and an insertion; one edit where they touch. `after`: the inserted text begins with a line end."""
    if len(removal) != 1 or len(insertion) != 1:
        return ()
    taken, put = spans_of(file.text, [removal[0].edit]), spans_of(file.text, [insertion[0].edit])
    if not taken or not put:
        return ()
    old, new = taken[0], put[0]
    if not meet(old, new):
        return (*removal, *insertion)
    lines = lines_of(file.text)
    is_whole = not old.text and lines.place(old.start)[1] == 0
    if not is_whole:
        # The only statement of a block becomes `pass`; what comes behind the block follows it.
        return file.edits(
            lines.edit(old.start, old.end, old.text + new.text if after else new.text + old.text)
        )
    text = new.text[1:] + "\n" if after else new.text
    if after and new.start > old.start:
        return file.edits(lines.edit(old.start, max(old.end, new.start), text))
    if after:
        return file.edits(lines.edit(new.start, old.end - 1, new.text))
    return file.edits(lines.edit(min(old.start, new.start), old.end, text))


def out_of_block(file: File, block: ast.With | ast.AsyncWith) -> FileEdits:
    """Let the body of a `with` stand without it: the line goes, its lines move to the left."""
    lines, place = lines_of(file.text), file.place(block)
    first, last = file.place(block.body[0]), file.place(block.body[-1])
    outer = lines.content(place.line)[: place.column]
    if outer.strip() or first.line == place.line or has_long_text(block):
        return ()
    inner = lines.content(first.line)[: first.column]
    if inner.strip() or not inner.startswith(outer):
        return ()
    moved = []
    # Comments between the `with` and its first statement stay.
    header_end = max(file.place(item.context_expr).end_line for item in block.items)
    while header_end < first.line and not lines.content(header_end).rstrip().partition("#")[
        0
    ].rstrip().endswith(":"):
        header_end += 1
    for number in range(header_end + 1, last.end_line + 1):
        content = lines.content(number)
        moved.append(outer + content[len(inner) :] if content.startswith(inner) else content)
    start, end = lines.start(place.line), lines.end(last.end_line)
    return file.edits(lines.edit(start, end, "\n".join(moved)))


def has_long_text(block: ast.stmt) -> bool:
    """Whether a string runs over several lines: its inside must not be moved."""
    return any(
        isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno
        for node in ast.walk(block)
    )
