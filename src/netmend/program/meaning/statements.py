"""Calls and statements as written: their argument nodes, what the names in them tell, and edits that change and move them."""

from __future__ import annotations

import ast
import re

from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.text.edit_source import Edits, span_of
from netmend.program.text.edits import (
    delete_argument,
    delete_statement,
    insert_after,
    insert_before,
    item_of,
    replace,
)
from netmend.program.text.file import block_of
from netmend.program.text.positions import lines_of

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_ENDINGS = ("", "set", "data", "loader", "dl", "ds", "x", "y", "iter")
_EVALUATION = frozenset(
    [f"{word}{ending}" for word in ("test", "valid", "validation", "holdout") for ending in _ENDINGS]
    + [f"val{ending}" for ending in _ENDINGS if ending]
    + ["xtest", "ytest", "xval", "yval", "xvalid", "yvalid"]
)
_TRAINING = frozenset(
    [f"{word}{ending}" for word in ("train", "training", "trn") for ending in _ENDINGS] + ["xtrain", "ytrain"]
)


_LABELS = frozenset(("y", "label", "labels", "target", "targets", "ytrain", "ytest", "yval", "lbl"))


def is_for_evaluation(name: str) -> bool:
    """Does a variable's name say validation or test data, and not training? A lone `val` is mostly a value."""
    words = _words(name)
    return not is_for_training(name) and any(
        word in _EVALUATION
        or (word == "val" and len(words) > 1 and words[0] in ("val", "x", "y", "data", "dataset", "loader"))
        for word in words
    )


def is_for_training(name: str) -> bool:
    return any(word in _TRAINING for word in _words(name))


def is_for_labels(name: str) -> bool:
    """Does a variable's name say labels or targets rather than inputs?"""
    return any(word in _LABELS for word in _words(name))


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def written_name(node: ast.AST | None) -> str:
    """The last name of what is written: `x_test` for `self.x_test`, `data["x_test"]` and `x_test`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""


def argument_node(call: ast.Call | None, name: str, position: int | None = None) -> ast.expr | None:
    """The expression given for an argument; None when it is not given or hidden in a star."""
    if call is None:
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is not None and position < len(call.args):
        given = call.args[: position + 1]
        return None if any(isinstance(part, ast.Starred) for part in given) else given[-1]
    return None


def with_argument(program: Program, call: ast.AST | None, name: str, text: str) -> Edits:
    """Give a keyword argument: changed where it stands, else put behind the last one."""
    if not isinstance(call, ast.Call):
        return ()
    known = argument_node(call, name)
    if known is not None:
        return replace(program, known, text)
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if any(keyword.arg is None for keyword in call.keywords):
        return ()
    if not given:
        span = span_of(program, call)
        return (lines_of(program.text).edit(span[1] - 1, span[1] - 1, f"{name}={text}"),) if span else ()
    last = max(given, key=lambda part: (part.end_lineno or 0, part.end_col_offset or 0))
    found = item_of(program, call, last)
    if found is None:
        return ()
    end = found[1].end
    return (lines_of(program.text).edit(end, end, f", {name}={text}"),)


def without_argument(program: Program, call: ast.AST | None, name: str) -> Edits:
    """Leave a keyword argument away."""
    keywords = call.keywords if isinstance(call, ast.Call) else ()
    keyword = next((keyword for keyword in keywords if keyword.arg == name), None)
    return delete_argument(program, call, keyword) if isinstance(call, ast.Call) and keyword else ()


def exchanged(program: Program, one: ast.AST, other: ast.AST) -> Edits:
    """Two expressions, each in the place of the other."""
    if isinstance(one, ast.Starred) or isinstance(other, ast.Starred):
        return ()
    first, second = replace(program, one, program.source(other)), replace(program, other, program.source(one))
    return (*first, *second) if first and second else ()


def alone(program: Program, event: Event) -> ast.stmt | None:
    """The statement of an event, if it consists of nothing but the call and stands in the checked file."""
    node = event.node
    if not program.module.holds(node):
        return None
    statement = program.statement(node)
    return statement if isinstance(statement, ast.Expr) and statement.value is node else None


def within(program: Program, event: Event) -> ast.stmt | None:
    """The simple statement that an event stands in, of the checked file."""
    if not program.module.holds(event.node):
        return None
    statement = program.statement(event.node)
    return statement if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign) else None


def is_beside(program: Program, one: ast.stmt, other: ast.stmt) -> bool:
    """Do two statements stand in the same list of statements?"""
    file = program.module_of(one)
    return file.parent(one) is not None and any(part is other for part in block_of(file, one))


def moved_before(program: Program, statement: ast.stmt, place: ast.stmt) -> Edits:
    """Take a statement out and put it before another; nothing where it cannot be done."""
    out, put = delete_statement(program, statement), insert_before(program, place, program.source(statement))
    return (*out, *put) if out and put else ()


def moved_after(program: Program, statement: ast.stmt, place: ast.stmt) -> Edits:
    out, put = delete_statement(program, statement), insert_after(program, place, program.source(statement))
    return (*out, *put) if out and put else ()


def optimiser_text(program: Program, step: Event) -> str:
    """How the program writes the optimiser of a step: `self.opt`; "" where it is more than a name."""
    node = step.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    if not program.module.holds(node):
        return ""
    written: ast.AST = node.args[0] if node.args else node.func.value
    part = written
    while isinstance(part, ast.Attribute):
        part = part.value
    return program.source(written) if isinstance(part, ast.Name) else ""
