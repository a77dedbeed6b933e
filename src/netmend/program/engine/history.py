"""What a program would do, in order: a tree of blocks with calls and stores, loops, branches, guards and followed calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from netmend.program.engine.values import Call, Function, Value

CALL, STORE, AUGMENT, RETURN, EXIT, DELETE, YIELD = (
    "call",
    "store",
    "augment",
    "return",
    "exit",
    "delete",
    "yield",
)


@dataclass(slots=True, eq=False, repr=False)
class Block:
    """Things that happen one after the other."""

    parent: Part | None = None
    items: list[Event | Part] = field(default_factory=list)

    def events(self) -> Iterator[Event]:
        """Every event inside, in order, however deep."""
        for item in self.items:
            if isinstance(item, Event):
                yield item
            else:
                for block in item.blocks:
                    yield from block.events()

    def parts(self) -> Iterator[Part]:
        """Every loop, branch, guard and followed call inside, outer before inner."""
        for item in self.items:
            if not isinstance(item, Event):
                yield item
                for block in item.blocks:
                    yield from block.parts()


@dataclass(slots=True, eq=False, repr=False)
class Event:
    """One thing that happens. `value`: the call, or what is stored or returned; `target`: where it is stored."""

    kind: str
    value: Value
    node: ast.AST
    block: Block
    order: int
    target: Target | None = None

    @property
    def call(self) -> Call | None:
        return None

    def around(self) -> Iterator[Part]:
        """Loops, branches, guards and followed calls it stands in, innermost first."""
        return _around(self.block)

    @property
    def loop(self) -> Loop | None:
        """The innermost loop it runs in."""
        return next((part for part in self.around() if isinstance(part, Loop)), None)

    @property
    def body(self) -> Body | None:
        """The innermost followed function it happens in."""
        return next((part for part in self.around() if isinstance(part, Body)), None)

    def loops(self) -> tuple[Loop, ...]:
        """The loops it runs in, innermost first, through followed calls too."""
        return tuple(part for part in self.around() if isinstance(part, Loop))


class CallEvent(Event):
    """A call happens."""

    __slots__ = ()
    value: Call

    @property
    def call(self) -> Call:
        return self.value


class StoreEvent(Event):
    """Something is stored in a variable, an attribute or an item."""

    __slots__ = ()
    target: Target


@dataclass(slots=True, eq=False, repr=False)
class Target:
    """Where something is stored: a variable, an attribute or an item. `old` is what stood there before."""

    name: str  # of the variable or the attribute; "" for an item
    base: Value | None = None  # of an attribute or an item
    key: Value | None = None  # of an item
    old: Value | None = None


@dataclass(slots=True, eq=False, repr=False)
class Part:
    """Something with blocks inside."""

    node: ast.AST
    block: Block
    order: int
    blocks: list[Block] = field(init=False, default_factory=list)

    def open(self) -> Block:
        inner = Block(self)
        self.blocks.append(inner)
        return inner

    def around(self) -> Iterator[Part]:
        return _around(self.block)

    def events(self) -> Iterator[Event]:
        for block in self.blocks:
            yield from block.events()

    def parts(self) -> Iterator[Part]:
        for block in self.blocks:
            yield from block.parts()


@dataclass(slots=True, eq=False, repr=False)
class Loop(Part):
    """A `for` or `while` loop: blocks[0] is its body (evaluated once), blocks[1] its `else`."""

    iterable: Value | None  # of a `for`
    test: Value | None  # of a `while`

    @property
    def body(self) -> Block:
        return self.blocks[0]


@dataclass(slots=True, eq=False, repr=False)
class Branch(Part):
    """`if`, a conditional expression, `match` or `try`: one block per path; `complete` when one of them is always taken."""

    test: Value | None
    kind: str = "if"  # "if", "try", "match", "and"
    complete: bool = field(init=False, default=True)


@dataclass(slots=True, eq=False, repr=False)
class Guard(Part):
    """A `with` statement."""

    managers: tuple[Value, ...]


@dataclass(slots=True, eq=False, repr=False)
class Body(Part):
    """The inside of a function of the project, entered by a call."""

    function: Function
    call: Call | None


EVENTS = {CALL: CallEvent, STORE: StoreEvent}  # kinds with a class of their own


def _around(block: Block | None) -> Iterator[Part]:
    while block is not None and block.parent is not None:
        yield block.parent
        block = block.parent.block


def branches_between(item: Event | Part, outer: Part | None) -> list[tuple[Branch, Block]]:
    """Branches that decide whether an item inside a part happens, with the path it stands on, innermost first."""
    found = []
    block: Block | None = item.block
    while block is not None and block.parent is not None and block.parent is not outer:
        if isinstance(block.parent, Branch):
            found.append((block.parent, block))
        block = block.parent.block
    return found


def always(item: Event | Part, outer: Part | None) -> bool:
    """Does the item happen each time the part (or the whole entry) runs, early exits aside?

    Inner loops count as running at least once; the first block of a `try` counts as running.
    """
    return all(
        branch.kind == "try" and branch.blocks and branch.blocks[0] is block
        for branch, block in branches_between(item, outer)
    )


def before(first: Event, second: Event) -> bool:
    """Whenever `second` happens, has `first` happened (earlier in the same round of the loops around both)?"""
    if first.order >= second.order:
        return False
    ancestors = {id(part) for part in second.around()}
    blocks = {id(second.block)}
    block: Block | None = second.block
    while block is not None and block.parent is not None:
        block = block.parent.block
        blocks.add(id(block))
    block = first.block
    while block is not None and id(block) not in blocks:
        part = block.parent
        if part is None:
            return False
        if isinstance(part, Branch) and not (part.kind == "try" and part.blocks[0] is block):
            return False
        if id(part) in ancestors:
            return False
        block = part.block
    return True


def common_loop(one: Event, other: Event) -> Loop | None:
    """The innermost loop that both run in."""
    others = {id(loop) for loop in other.loops()}
    return next((loop for loop in one.loops() if id(loop) in others), None)
