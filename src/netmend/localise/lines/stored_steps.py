"""What a hand-written agent keeps of a step: the state before it and the state after it, or one of them twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.localise.lines.acting_source import StepCall, resolved
from netmend.program.text.queries import inside, last_name, names_in, site_of
from netmend.vocabulary import Site

_KEEPING = ("append", "push", "add", "store", "put", "insert", "memorize", "remember", "save", "record")


@dataclass(frozen=True)
class Standstill:
    """Both places of a kept transition hold the same state."""

    site: Site  # where it is kept
    state: str
    advanced: Site | None = None  # `state = next_state`, where that comes before the keeping


def standstill(step: StepCall) -> Standstill | None:
    """`push(state, action, reward, state, done)`, or `state = next_state` before `push(state, action, reward, next_state, done)`."""
    if not step.reward or step.observation in ("", "_") or not step.call.args:
        return None
    acted_on = {name for part in resolved(step.scope, step.call.args[0]) for name in names_in(part)}
    for kept in _kept(step):
        parts = _parts(kept)
        if not any(step.reward in set(names_in(part)) for part in parts):
            continue
        names = [_state(part) for part in parts]
        states = [name for name in names if name in acted_on and name != step.reward]
        twice = next((name for name in states if states.count(name) > 1), "")
        if twice and not any(step.observation in set(names_in(part)) for part in parts):
            return Standstill(site_of(step.file, kept), twice)
        if step.observation in names:
            for name in states:
                moved = _moved_before(step, name, kept)
                if moved is not None and name != step.observation:
                    return Standstill(site_of(step.file, kept), name, moved)
    return None


def _kept(step: StepCall) -> Iterator[ast.Call]:
    """Calls after the step, in its own block, that keep something of it."""
    for statement in _following(step):
        for node in inside(statement, ast.Call):
            name = last_name(node.func).lower()
            if any(name.startswith(word) for word in _KEEPING):
                yield node


def _parts(call: ast.Call) -> list[ast.expr]:
    """What is kept: the arguments, or the members of the one tuple or record that is the argument."""
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if len(parts) == 1 and isinstance(parts[0], ast.Tuple | ast.List):
        return parts[0].elts
    if len(parts) == 1 and isinstance(parts[0], ast.Call) and len(parts[0].args) > 2:
        return list(parts[0].args)
    return parts


def _state(node: ast.expr) -> str:
    """The one name that a value is a form of: `state`, `torch.tensor([state])`, `state.copy()`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.List) and len(node.elts) == 1:
        return _state(node.elts[0])
    if isinstance(node, ast.Call):
        if len(node.args) == 1:
            return _state(node.args[0])
        if isinstance(node.func, ast.Attribute) and not node.args:
            return _state(node.func.value)
    return ""


def _moved_before(step: StepCall, name: str, kept: ast.Call) -> Site | None:
    """`name = observation` in the block of the step, between it and the keeping."""
    for statement in _following(step):
        if statement.lineno <= kept.lineno <= (statement.end_lineno or statement.lineno):
            break
        if isinstance(statement, ast.Assign) and _names(statement) == [name]:
            is_moved = _state(statement.value) == step.observation
            return site_of(step.file, statement) if is_moved else None
    return None


def _names(statement: ast.Assign) -> list[str]:
    return [target.id for target in statement.targets if isinstance(target, ast.Name)]


def _following(step: StepCall) -> list[ast.stmt]:
    """The statements after the step in its block."""
    for node in ast.walk(step.scope):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and step.statement in block:
                return block[block.index(step.statement) + 1 :]
    return []
