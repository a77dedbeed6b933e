"""The label that one loss wants in place of another's, as an edit."""

from __future__ import annotations

import ast

from netmend.program.engine.program import Program
from netmend.program.meaning.judged_answers import Pull
from netmend.program.meaning.levels import ONES, ZEROS
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

_TITLE = "Use {}"


def wanted_instead(program: Program, wrong: Pull, right: Pull) -> Fix | None:
    """`bce(D(fake), zeros)` beside `bce(D(real), ones)` → `bce(D(fake), ones)`; None where the text is not that plain."""
    given, other = _target(wrong), _target(right)
    if isinstance(given, ast.Name) and isinstance(other, ast.Name) and given.id != other.id:
        edits = replace(program, given, other.id)
        return Fix(_TITLE.format(f"`{other.id}`"), edits) if edits else None
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute | ast.Name):
        name = given.func.attr if isinstance(given.func, ast.Attribute) else given.func.id
        filled = dict(zip((*ONES, *ZEROS), (*ZEROS, *ONES), strict=True)).get(name)
        if filled is not None and right.level == float(filled in ONES):
            before, _, after = program.source(given).partition(name)
            edits = replace(program, given, f"{before}{filled}{after}")
            return Fix(_TITLE.format(f"`{filled}`"), edits) if edits else None
    return None


def _target(pull: Pull) -> ast.expr | None:
    call = pull.use.call.node if pull.use is not None else None
    if not isinstance(call, ast.Call):
        return None
    keyword = next((keyword.value for keyword in call.keywords if keyword.arg == "target"), None)
    return keyword if keyword is not None else call.args[1] if len(call.args) > 1 else None
