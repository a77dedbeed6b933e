"""Loops around a line, through the functions that lead to it, and what says how often they run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from netmend.program.engine.history import Loop as LoopInRun
from netmend.program.of_run import EvaluatedProgram
from netmend.program.source.numbers import literal
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.vocabulary import Site, Trace

Loop = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True, eq=False)
class Rounds:
    """A counted loop and the expression that bounds it."""

    file: File
    loop: Loop
    count: ast.expr
    start: int = 0  # what `range(1, 101)` begins with, where its end is written out


def loops_around(program: EvaluatedProgram, site: Site | None) -> list[tuple[File, ast.For | ast.While]]:
    """The loops that a call runs in, innermost first, also those that functions on the way to it are called in."""
    for event in program.at(site)[:1]:
        nodes = [part.node for part in event.around() if isinstance(part, LoopInRun)]
        found = [(program.file_of(node), node) for node in nodes if isinstance(node, ast.For | ast.While)]
        return [(file, node) for file, node in found if file is not None]
    return []


def training_rounds(program: EvaluatedProgram, trace: Trace, step: Site | None) -> Rounds | None:
    """The outermost counted loop around the training step that does not start the whole experiment anew."""
    created = [*(model.created for model in trace.models), *(each.created for each in trace.optimizers)]
    made = [site for site in created if site is not None]
    found: Rounds | None = None
    for event in program.at(step)[:1]:
        for part in event.around():
            file = program.file_of(part.node)
            if file is None or not isinstance(part.node, Function | Loop):
                continue
            if _makes(program, file, part.node, made):
                return found  # folds, trials: loops further out start anew
            count = bound_of(part.node) if isinstance(part.node, Loop) else None
            if isinstance(part.node, Loop) and count is not None:
                found = Rounds(file, part.node, count, _start(part.node, count))
    return found


def _makes(program: EvaluatedProgram, file: File, part: ast.stmt, made: Sequence[Site]) -> bool:
    """Whether a model or an optimiser that is trained is made within a part of the program."""
    here = (site for site in made if str(program.sources.path(site.file)) == file.file)
    return any(part.lineno < site.line <= (part.end_lineno or part.lineno) for site in here)


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


def counted(node: ast.expr) -> ast.Call | None:
    """The range() in `range(n)`, `tqdm(range(n))`, `enumerate(range(n))`; `range(0, n, size)` cuts batches and counts no rounds."""
    if not isinstance(node, ast.Call):
        return None
    if last_name(node.func) in ("range", "trange") and node.args:
        return node if len(node.args) < 3 else None
    return next((found for given in node.args if (found := counted(given)) is not None), None)
