"""The loops around the training step, across the functions that lead to it, and what says how often they run."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Loop, loops_around, spots
from netmend.program.counted_loops import counted
from netmend.program.of_run import program_of
from netmend.program.source.numbers import literal, number
from netmend.program.source.values import Faces, set_value
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name


@dataclass(frozen=True, eq=False)
class Rounds:
    """A counted loop and the expression that bounds it."""

    file: File
    loop: Loop
    count: ast.expr
    start: int = 0  # what `range(1, 101)` begins with, where its end is written out


def epoch_rounds(case: Case) -> Rounds | None:
    """The outermost counted loop around the training step that does not start the whole experiment anew."""
    place = next(iter((*spots(case, "step"), *spots(case, "backward"))), None)
    program = program_of(case.sources)
    found: Rounds | None = None
    for event in program.happens(place.file.file, place.call)[:1] if place is not None else ():
        for part in event.around():
            file = program.file_of(part.node)
            if file is None or not isinstance(part.node, Function | Loop):
                continue
            if _makes(case, file, part.node):
                return found  # folds, trials: loops further out start anew
            count = bound_of(part.node) if isinstance(part.node, Loop) else None
            if isinstance(part.node, Loop) and count is not None:
                found = Rounds(file, part.node, count, _start(part.node, count))
    return found


def bound_of(loop: Loop) -> ast.expr | None:
    """`n` of `range(n)`, `tqdm(range(1, n + 1))`, `while step < n`, `while True: … if step >= n: break`."""
    if isinstance(loop, ast.While):
        return _compared(loop.test, loop) or _leaving(loop)
    call = counted(loop.iter)
    return None if call is None else _plain(call.args[min(1, len(call.args) - 1)])


def _start(loop: Loop, count: ast.expr) -> int:
    call = counted(loop.iter) if isinstance(loop, ast.For | ast.AsyncFor) else None
    if call is None or len(call.args) != 2 or call.args[1] is not count:
        return 0
    first = literal(call.args[0])
    return int(first) if first is not None and literal(count) is not None else 0


def _plain(bound: ast.expr) -> ast.expr | None:
    """`epochs` of `epochs + 1`; nothing where the number comes from the data, as in `len(x) // size`."""
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Add | ast.Sub):
        sides = [side for side in (bound.left, bound.right) if literal(side) is None]
        bound = sides[0] if len(sides) == 1 else bound
    if isinstance(bound, ast.BinOp) and literal(bound) is None:
        return None
    if isinstance(bound, ast.Call) and last_name(bound.func) not in ("int", "get"):
        return None
    return bound


def _compared(test: ast.expr, loop: ast.While) -> ast.expr | None:
    """The side of `step < n` that the loop does not change."""
    if isinstance(test, ast.BoolOp):
        return next((found for part in test.values if (found := _compared(part, loop)) is not None), None)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    sides = (test.left, test.comparators[0])
    changed = {
        ast.unparse(node.target) for node in inside(loop, ast.AugAssign) if isinstance(node.op, ast.Add)
    }
    counters = [side for side in sides if ast.unparse(side) in changed]
    bounds = [side for side in sides if ast.unparse(side) not in changed]
    return _plain(bounds[0]) if len(counters) == 1 and bounds else None


def _leaving(loop: ast.While) -> ast.expr | None:
    for node in inside(loop, ast.If):
        if any(isinstance(inner, ast.Break | ast.Return) for inner in node.body):
            found = _compared(node.test, loop)
            if found is not None:
                return found
    return None


def _makes(case: Case, file: File, part: ast.stmt) -> bool:
    """Whether a model or an optimiser that is trained is made within a part of the program."""
    sites = [model.created for model in case.trace.models]
    sites += [optimizer.created for optimizer in case.trace.optimizers]
    return any(
        site is not None
        and case.code.sources.path(site.file) == case.code.sources.path(file.file)
        and part.lineno < site.line <= (part.end_lineno or part.lineno)
        for site in sites
    )


def more_rounds(case: Case, factor: float) -> tuple[str, Faces]:
    """So many times as many rounds, in words and as edits; nothing where their number is not known."""
    rounds = epoch_rounds(case)
    present = None if rounds is None else number(case.code, rounds.file, rounds.count, case.arguments)
    if rounds is None or present is None or present - rounds.start < 1 or _is_over_batches(case, rounds):
        return "", Faces()
    whole = round(present) - rounds.start
    wanted = math.ceil(whole * factor)
    faces = set_value(case.code, rounds.file, rounds.count, str(wanted + rounds.start), case.arguments)
    return f"{whole} → {wanted} epochs", faces


def _is_over_batches(case: Case, rounds: Rounds) -> bool:
    """Whether the counted loop is the innermost one around the step."""
    step = next(iter(spots(case, "step")), None)
    return step is not None and rounds.loop in loops_around(step.file, step.call)[:1]
