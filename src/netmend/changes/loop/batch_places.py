"""Where the size of training batches is set: in a loader, or in the loop that cuts them by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import loops_around, reached_from, spots
from netmend.changes.loop.rate_places import set_setting
from netmend.diagnose.measures.batches import batch_size, training_loader
from netmend.program.source.numbers import number, set_numbers
from netmend.program.source.values import Faces
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary import LoaderFact

_SAMPLERS = ("randint", "integers", "choice", "sample", "multinomial")


def loader_of(case: Case) -> LoaderFact | None:
    """The loader of the training data: the one that the fault names, else the one that feeds training."""
    named = case.trace.get(LoaderFact, case.component)
    if named is not None:
        return named
    # A loader that is made anew for every epoch is one to the reader.
    marked = [loader for loader in case.trace.loaders if loader.phase == "training"]
    same = marked and all(loader.created == marked[0].created for loader in marked)
    return training_loader(case.trace) or (marked[0] if same else None)


def set_batch_size(case: Case, size: int) -> Faces:
    """Edits that cut batches of another size."""
    loader = loader_of(case)
    if loader is not None and loader.created is not None:
        return set_setting(case, loader.created, "batch_size", str(size), 1)
    return set_numbers(case.code, ((*place, str(size)) for place in _by_hand(case)), case.arguments)


def _by_hand(case: Case) -> Iterator[tuple[File, ast.expr]]:
    """The expressions for the size, in the loops around the step and the generators that they go through."""
    place = next(iter((*spots(case, "step"), *spots(case, "backward"))), None)
    known = batch_size(case.trace)
    if place is None:
        return
    for file, node in reached_from(case.code, place.file, place.call):
        for loop in loops_around(file, node):
            parts: list[tuple[File, ast.AST]] = [(file, loop)]
            if isinstance(loop, ast.For):
                parts += _generators(case, file, loop.iter)
            found = [
                (where, value) for where, part in parts for value in _sizes(part)
                if _fits(number(case.code, where, value, case.arguments), known)
            ]  # fmt: skip
            if found:
                yield from found
                return


def _fits(value: float | None, known: int | None) -> bool:
    return value is not None and value >= 1 and (known is None or value == known)


def _generators(case: Case, file: File, iterated: ast.expr) -> list[tuple[File, ast.AST]]:
    """Functions of the program that a loop goes through: `for x, y in batches(…)`."""
    names = {last_name(node.func) for node in inside(iterated, ast.Call)}
    return [
        (other, node)
        for other in case.code.files(file.file)
        for node in inside(other.tree, ast.FunctionDef, ast.AsyncFunctionDef)
        if node.name in names
    ]


def _sizes(part: ast.AST) -> Iterator[ast.expr]:
    """`range(0, n, SIZE)`, `perm.split(SIZE)`, `x[i : i + SIZE]`, `randint(0, n, (SIZE,))`, `randperm(n)[:SIZE]`."""
    for node in inside(part, ast.Call, ast.Slice, ast.Subscript):
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            if name in ("range", "arange") and len(node.args) == 3:
                yield node.args[2]
            elif name == "split" and node.args:
                is_function = len(node.args) > 1
                yield node.args[1 if is_function else 0]
            elif name in _SAMPLERS:
                yield from _sampled(node)
            if name == "range":
                counts = (part for given in node.args for part in inside(given, ast.BinOp))
                yield from (part.right for part in counts if _is(part, ast.FloorDiv))
        elif isinstance(node, ast.Slice):
            yield from _cut(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            shuffled = isinstance(node.value, ast.Call) and last_name(node.value.func) in (
                "randperm",
                "permutation",
            )
            if shuffled and node.slice.lower is None and node.slice.upper is not None:
                yield node.slice.upper


def _cut(part: ast.Slice) -> Iterator[ast.expr]:
    """`i : i + SIZE`, `i * SIZE : (i + 1) * SIZE`."""
    lower, upper = part.lower, part.upper
    if isinstance(lower, ast.expr) and _is(upper, ast.Add) and ast.dump(upper.left) == ast.dump(lower):
        yield upper.right
    elif _is(lower, ast.Mult) and _is(upper, ast.Mult):
        yield lower.right
        yield upper.right


def _is(node: ast.AST | None, kind: type[ast.operator]) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, kind)


def _sampled(call: ast.Call) -> Iterator[ast.expr]:
    size = next((k.value for k in call.keywords if k.arg in ("size", "k", "num_samples")), None)
    if size is None and call.args:
        size = call.args[-1]
    if isinstance(size, ast.Tuple) and size.elts:
        size = size.elts[0]
    if size is not None:
        yield size
