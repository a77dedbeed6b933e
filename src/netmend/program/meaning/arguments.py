"""Calls as written: their argument nodes, what the names in them tell, and edits of them."""

from __future__ import annotations

import ast
import re

from netmend.program.engine.program import Program
from netmend.program.text.edit_items import item_of
from netmend.program.text.edit_source import Edits
from netmend.program.text.edits import replace
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


def with_argument(program: Program, call: ast.Call, name: str, text: str) -> Edits:
    """Give a keyword argument: changed where it stands, else put behind the last one."""
    known = argument_node(call, name)
    if known is not None:
        return replace(program, known, text)
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if not given or any(keyword.arg is None for keyword in call.keywords):
        return ()
    last = max(given, key=lambda part: (part.end_lineno or 0, part.end_col_offset or 0))
    found = item_of(program, call, last)
    if found is None:
        return ()
    end = found[1].end
    return (lines_of(program.text).edit(end, end, f", {name}={text}"),)
