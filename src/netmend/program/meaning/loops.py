"""What kind of loop a loop is, and which paths through its body lead where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.program.engine.history import (
    EXIT,
    RETURN,
    YIELD,
    Block,
    Body,
    Branch,
    CallEvent,
    Event,
    Loop,
    Part,
    always,
)
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Element, Instance, Operation, Value, resolved
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import LOADER, MODEL, OPTIMISER, SCALER, role
from netmend.program.meaning.training import Round, look_at, rounds
from netmend.program.text.queries import holds, names_in

_EPOCH = re.compile(r"^_*(n_?|num_?|number_of_?|max_?|total_?|the_?)?(epochs?|ep|eps)_*\d*$", re.IGNORECASE)
_LOADER = re.compile(r"loader|(^|_)(dl|batches)$", re.IGNORECASE)
_SEVERAL = re.compile(
    r"fold|seed|trial|repeat|member|ensemble|candidate|config|run|task|client", re.IGNORECASE
)
_THROUGH = ("enumerate", "tqdm", "trange", "iter", "track", "islice", "progress_bar", "zip", "cycle", "list")


@once
def turns(program: Program) -> tuple[Round, ...]:
    """The training loops that were seen in full: evaluated to the end, nothing in them unseen."""
    return tuple(turn for turn in rounds(program) if is_seen(program, turn))


def is_seen(program: Program, turn: Round) -> bool:
    return is_seen_loop(program, turn.loop)


def is_seen_loop(program: Program, loop: Loop) -> bool:
    """Was a loop evaluated in full, with no call in it that may train unseen?"""
    if not program.entry_of(loop).complete:
        return False
    opaque = [event for event in look_at(loop).opaque if role(event.call.receiver) != SCALER]
    return not opaque and not any(event.kind == YIELD or _hands_over(event) for event in loop.events())


def _hands_over(event: Event) -> bool:
    """A call that was not followed and is given an object of the project: `callback.on_step(self)`."""
    call = event.call
    if call is None or call.result is not None or call.qualified.startswith(("torch.", "numpy.")):
        return False
    if call.qualified in ("print", "len", "isinstance", "hasattr", "getattr", "str", "repr", "id", "super"):
        return False
    given = call.given
    return any(
        isinstance(resolved(value), Instance) and role(value) not in (MODEL, OPTIMISER) for value in given
    )


@once
def call_events(program: Program) -> dict[int, CallEvent]:
    """The event of each call's value, by `id`."""
    return {id(event.value): event for event in program.calls}


def is_over_loader(loop: Loop) -> bool:
    """Does a `for` loop run over the batches of a loader?"""
    node = loop.node
    if not isinstance(node, ast.For | ast.AsyncFor) or loop.iterable is None:
        return False
    count = bound_of(loop)
    if isinstance(count, Call) and count.qualified == "len" and count.args:
        return _is_loader(count.args[0])  # range(len(loader)), with next(batches) inside
    return _is_loader(loop.iterable) or (
        not isinstance(node.iter, ast.Call) and any(_LOADER.search(name) for name in names_in(node.iter))
    )


def _is_loader(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Call):
        name = value.qualified.rpartition(".")[2]
        if name in _THROUGH and value.args:
            return _is_loader(value.args[0])
        return role(value) == LOADER
    return role(value) == LOADER


def is_over_epochs(loop: Loop) -> bool:
    """Is it named as the loop over epochs: `for epoch in …`, `range(args.epochs)`?"""
    node = loop.node
    if isinstance(node, ast.While):
        count = _count(node)
        return count is not None and any(_EPOCH.match(name) for name in names_in(count))
    if not isinstance(node, ast.For | ast.AsyncFor) or is_over_several(loop) or is_over_loader(loop):
        return False
    return any(_EPOCH.match(name) for name in (*names_in(node.target), *names_in(node.iter)))


def _count(loop: ast.While) -> ast.Compare | None:
    """`epoch < epochs` of a loop that counts by itself: `epoch += 1` as a statement of its body."""
    test = loop.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    if not isinstance(test.ops[0], ast.Lt | ast.LtE):
        return None
    counted = ast.unparse(test.left)
    is_counted = any(
        isinstance(part, ast.AugAssign) and ast.unparse(part.target) == counted for part in loop.body
    )
    return test if is_counted else None


def is_over_several(loop: Loop) -> bool:
    """Is each round a training of its own: folds, seeds, members of an ensemble?"""
    node = loop.node
    if not isinstance(node, ast.For | ast.AsyncFor):
        return False
    holders = {
        part.value.id
        for part in ast.walk(node.iter)
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.value, ast.Name)
    }  # `config` of range(config["epochs"]) says nothing
    named = (*names_in(node.target), *(name for name in names_in(node.iter) if name not in holders))
    return any(_SEVERAL.search(name) for name in named)


def bound_of(loop: Loop) -> Value | None:
    """`n` of `for … in range(n)` or `range(1, n + 1)`, through progress bars, and of `while epoch < n`."""
    if isinstance(loop.node, ast.While):
        test = loop.test
        return test.operands[1] if isinstance(test, Operation) and _count(loop.node) is not None else None
    value = resolved(loop.iterable)
    while isinstance(value, Call) and value.qualified.rpartition(".")[2] in _THROUGH and value.args:
        if value.qualified.rpartition(".")[2] == "trange":
            return value.args[0]
        value = resolved(value.args[0])
    if isinstance(value, Call) and value.qualified == "range" and value.args:
        return value.args[0] if len(value.args) == 1 else value.args[1]
    return None


def on_every_path(block: Block, wanted: set[int]) -> bool:
    """Does each way through a block meet one of the wanted events (by `id`), or leave?"""
    for item in block.items:
        if isinstance(item, Event):
            if id(item) in wanted or item.kind in (EXIT, RETURN):
                return True
        elif isinstance(item, Branch):
            blocks = item.blocks[:1] if item.kind == "try" else item.blocks
            if item.kind in ("if", "try") and blocks and all(on_every_path(each, wanted) for each in blocks):
                return True
        elif any(_meets(each, wanted, isinstance(item, Body)) for each in item.blocks):
            return True
    return False


def _meets(block: Block, wanted: set[int], is_body: bool) -> bool:
    """Like `on_every_path`; leaving a followed function is not leaving the loop around its call."""
    if not is_body:
        return on_every_path(block, wanted)
    return any(id(event) in wanted for event in block.events()) and on_every_path(block, wanted)


def exclusive(one: Event, other: Event) -> bool:
    """Do two events stand on different paths of one branch, so that never both happen in a round?"""
    arms = {id(part): id(block) for part, block in _arms(one)}
    return any(arms.get(id(part), id(block)) != id(block) for part, block in _arms(other))


def _arms(event: Event) -> Iterator[tuple[Part, Block]]:
    block: Block | None = event.block
    while block is not None and block.parent is not None:
        if isinstance(block.parent, Branch) and block.parent.kind != "try":
            yield block.parent, block
        block = block.parent.block


def leaves(event: Event, loop: Loop) -> bool:
    """Does an event end a loop: `break`, or `return` out of the function that the loop stands in?"""
    if event.kind == EXIT:
        return isinstance(event.node, ast.Break) and event.loops()[:1] == (loop,)
    if event.kind != RETURN:
        return False
    for part in event.around():
        if part is loop:
            return True
        if isinstance(part, Body):
            return False
    return False


def runs_once(loop: Loop) -> bool:
    """Is the first round always the last?"""
    return any(leaves(event, loop) and always(event, loop) for event in loop.body.events())


def made_in(program: Program, value: Value | None, loop: Loop) -> bool:
    """Was an object made inside a loop, anew in each round?"""
    node = resolved(value).node if value is not None else None
    if node is None:
        return False
    if holds(loop.node, node) or _followed_in(program, value, loop):
        return True
    if isinstance(resolved(value), Call):
        return False
    bodies = (part.function.definition for part in loop.body.parts() if isinstance(part, Body))
    # a list made by a function of the loop
    return any(holds(body, node) for body in bodies)


def _followed_in(program: Program, value: Value | None, loop: Loop) -> bool:
    event = call_events(program).get(id(resolved(value))) if value is not None else None
    return event is not None and loop in event.loops()


def changes_in(value: Value | None, loop: Loop) -> bool:
    """Does a value depend on the round: on what the loop runs over, or on what it assigns?"""
    targets = [
        getattr(loop.node, "target", None),
        *(part.target for part in getattr(loop.node, "generators", ())),
    ]
    return any(
        part.node is loop.node
        or _is_next(part, loop)
        or (isinstance(part, Element) and any(part.node is target for target in targets))
        for part in walk(value)
    )


def _is_next(value: Value, loop: Loop) -> bool:
    """`next(batches)` in a round of the loop."""
    if not isinstance(value, Element) and not (isinstance(value, Call) and value.qualified == "next"):
        return False
    return value.node is not None and holds(loop.node, value.node)


def every_nth(test: Value | None, *, alone: bool = False) -> Value | None:
    """`k` of `if (i + 1) % k == 0:`; with `alone` only where no `or` adds other rounds."""
    if not isinstance(test, Operation):
        return None
    if test.operator == "not" or (test.operator == "==" and isinstance(test.operands[0], Operation)):
        inner = test.operands[0]
        return inner.operands[1] if isinstance(inner, Operation) and inner.operator == "%" else None
    if test.operator == "or" and not alone:
        return next((found for found in map(every_nth, test.operands) if found is not None), None)
    return None
