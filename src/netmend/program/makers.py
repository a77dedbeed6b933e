"""Where data is made: from a value that a call is given back through loaders, data sets, slices and moves to the line that makes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from netmend.library.operations import COPIES, FLOATS, MOVES, RESHAPES
from netmend.program.engine.history import Body, Event
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Function,
    Instance,
    Item,
    Param,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.batches import part_of_batch
from netmend.program.of_run import EvaluatedProgram
from netmend.program.text.file import File
from netmend.program.text.queries import assignments, last_name, results_of
from netmend.vocabulary import Site

_MOST_STEPS = 40
_MOVING = (*MOVES, *FLOATS, *RESHAPES, "contiguous", "split", "unsqueeze")
_HANDING_ON = ("DataLoader", "Subset", "random_split", "enumerate", "iter", "tqdm", "list", "next", "cycle")
_SAME = (*MOVES, *RESHAPES, *COPIES, "long", "t", "transpose", "squeeze")
_JOINING = ("TensorDataset", "zip")


def made_at(
    program: EvaluatedProgram, called: Site | None, position: int, into_functions: bool = True
) -> Site | None:
    """The line that makes what a call is given at a position; of a function that makes it, the line inside or the one that calls it."""
    for event in program.at(called):
        if event.call is not None and position < len(event.call.args):
            node = _maker(event.call.args[position], position)
            file = program.file_of(node)
            found = file and node and _line(program, event, file, node, into_functions)
            if found:
                return found
    return None


def _maker(value: Value, position: int) -> ast.AST | None:
    """The node that makes a value. `position`: which part it is of what a loader gives, where nothing says so."""
    for _ in range(_MOST_STEPS):
        value = resolved(value)
        if isinstance(value, Either):
            value = value.options[-1]
        elif isinstance(value, Item):
            base, key = resolved(value.base), value.key
            if isinstance(base, Element) and isinstance(key, Const) and isinstance(key.value, int):
                position = key.value
            value = base
        elif isinstance(value, Element):
            value = value.iterable
        elif isinstance(value, Attribute) and not isinstance(resolved(value.base), Instance):
            value = value.base
        elif isinstance(value, Collection) and value.items and _is_made(value):
            value = value.items[position if value.kind == "tuple" and position < len(value.items) else 0]
        elif isinstance(value, Call) and value.receiver is not None and value.method in _MOVING:
            value = value.receiver
        elif isinstance(value, Call) and value.args and _name(value) in (*_HANDING_ON, *_JOINING):
            value = value.args[position if _name(value) in _JOINING and position < len(value.args) else 0]
        else:
            break
    if isinstance(value, Instance) and (method := value.cls.method("__getitem__")) is not None:
        body = method.definition.body if isinstance(method.definition.body, list) else []
        return next((statement for statement in body if not isinstance(statement, ast.Expr)), None)
    return None if isinstance(value, Unknown | Param | Attribute) else value.node


def _is_made(value: Collection) -> bool:
    """Whether a collection holds the data in parts, rather than being written out: comprehensions, and what a loop takes apart."""
    return not isinstance(value.node, ast.Dict | ast.List | ast.Tuple) or value.kind == "tuple"


def _name(call: Call) -> str:
    return call.qualified.rpartition(".")[2] or call.method or last_name(call.node and call.node.func)


def _line(
    program: EvaluatedProgram, event: Event, file: File, node: ast.AST, into_functions: bool
) -> Site | None:
    """The line of a node, as seen from a call: what functions do that the call does not stand in is one step for it."""
    outermost = next(reversed(list(_functions_around(program, event, file, node))), None)
    call = outermost.call if outermost is not None else None
    results = results_of(outermost.node) if outermost is not None else []
    if call is not None and call.node is not None:
        node, file = call.node, program.file_of(call.node) or file
    elif isinstance(node, ast.Call):
        results = _yielded(program, node)
    written = event.node.args if isinstance(event.node, ast.Call) else []
    if node in written:
        return None  # the call itself holds the expression
    if into_functions and results and isinstance(node, ast.Call) and _is_own(node.func):
        return program.site(results[-1])
    return program.site(_whole(file, node, written))


def _functions_around(program: EvaluatedProgram, event: Event, file: File, node: ast.AST) -> Iterator[Body]:
    """The functions that were gone into for a node and not for an event, innermost first; an object's making is none."""
    function = file.function(node)
    using = {id(part.node) for part in event.around() if isinstance(part, Body)}
    body = None if function is None else next(program.bodies(function), None)
    bodies = () if body is None else (part for part in (body, *body.around()) if isinstance(part, Body))
    special = ("__init__", "__getitem__")
    return takewhile(lambda part: id(part.node) not in using and part.function.name not in special, bodies)


def _yielded(program: EvaluatedProgram, node: ast.Call) -> list[ast.Return | ast.Yield]:
    """What a function gives that was not gone into: a generator."""
    call = next((event.call for event in program.events(node) if event.call is not None), None)
    return results_of(call.function.definition) if call and isinstance(call.function, Function) else []


def _is_own(function: ast.expr) -> bool:
    """A function of the program, or a method of the object at hand."""
    return isinstance(function, ast.Name) or (
        isinstance(function, ast.Attribute) and last_name(function.value) == "self"
    )


def _whole(file: File, node: ast.AST, written: list[ast.expr]) -> ast.AST | None:
    """The statement that a node is the value of; the node itself where the statement does more than make it."""
    for above in file.parents(node):
        joins = isinstance(above, ast.Call) and last_name(above.func) in (*_HANDING_ON, *_JOINING)
        if joins or isinstance(above, ast.For) or above in written:
            return node
        if isinstance(above, ast.stmt):
            break
    return file.statement(node)


def taken_from(program: EvaluatedProgram, value: Value) -> ast.AST | None:
    """The expression that a value is taken from, through moves, reshaping, loaders and data sets, into the functions that make it."""
    engine = next(program.programs(program.sources.script), None)
    position = 0
    for _ in range(_MOST_STEPS):
        value = resolved(value)
        part = part_of_batch(engine, value) if engine is not None else None
        if isinstance(value, Either):
            value = value.options[-1]
        elif isinstance(value, Attribute) and value.name in ("T", "mT"):
            value = value.base
        elif isinstance(value, Call) and value.receiver is not None and value.method in _SAME:
            value = value.receiver
        elif part is not None and part.value is not None:
            value = part.value
        elif isinstance(value, Item) and isinstance(base := resolved(value.base), Collection) and base.items:
            position = _place(value)
            value = base.items[position if position < len(base.items) and not _is_made(base) else 0]
        elif isinstance(value, Item) and isinstance(base := resolved(value.base), Element):
            position = _place(value)
            value = base
        elif isinstance(value, Element):
            value = value.iterable
        elif isinstance(value, Call) and value.args and _name(value) in _HANDING_ON:
            value = value.args[0]
        else:
            break
    results = _given_out(value)
    if results:
        last = results[-1].value
        whole = last.elts[position] if isinstance(last, ast.Tuple) and position < len(last.elts) else last
        return _as_written(program, whole)
    return None if isinstance(value, Unknown | Param) else value.node


def _as_written(program: EvaluatedProgram, node: ast.expr | None) -> ast.AST | None:
    """What a function's own variable was given last, for its name."""
    file = program.file_of(node) if isinstance(node, ast.Name) else None
    if file is None or not isinstance(node, ast.Name):
        return node
    above = assignments(file.function(node), node.id, before=node.lineno)
    return (
        above[-1].value
        if above and len(above[-1].targets) == 1 and isinstance(above[-1].targets[0], ast.Name)
        else node
    )


def _place(item: Item) -> int:
    """Which part of its whole an item is; the first where nothing says so."""
    return item.key.value if isinstance(item.key, Const) and isinstance(item.key.value, int) else 0


def _given_out(value: Value) -> list[ast.Return | ast.Yield]:
    """What a data set or a generator of the program gives, where it was not gone into."""
    if isinstance(value, Instance):
        method = value.cls.method("__getitem__") or value.cls.method("__iter__")
        return results_of(method.definition) if method is not None else []
    function = value.function if isinstance(value, Call) else None
    return results_of(function.definition) if isinstance(function, Function) else []
