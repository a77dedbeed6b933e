"""The state of an evaluation: where in the history we stand, what is left of the effort, what branches changed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from netmend.program.engine.history import EVENTS, Block, Branch, Event, Part, Target
from netmend.program.engine.joined import either
from netmend.program.engine.project import Project
from netmend.program.engine.scope import ModuleFile, Scope
from netmend.program.engine.values import Class, Function, Instance, Value

MOST_EFFORT = 60_000  # expressions and statements per entry: a training script needs a few thousand
EFFORT_ASIDE = 5000  # the same for what is evaluated only when it is asked for
MOST_DEPTH = 12  # calls inside calls, from the file's top level
ASIDE_DEPTH = 3  # the same from functions that nobody in the file calls
MOST_VISITS = 6  # times one function is followed from the file's top level, where the arguments are real
MOST_ASIDES = 1  # times one function is followed, in all, from functions that nobody in the file calls


class OutOfEffort(Exception):
    """The entry is too large; what was seen so far stands, absences prove nothing."""


class Frame:
    """One followed function: its returns, and the class that super() in it starts from."""

    __slots__ = ("function", "owner", "returns")

    def __init__(self, function: Function | None, owner: Value | None) -> None:
        self.function = function
        self.owner = owner
        self.returns: list[Value] = []


class Machine:
    """Evaluates entries one after the other; values and events are kept, nothing is executed."""

    def __init__(self, project: Project, main: ModuleFile) -> None:
        self.project = project
        self.main = main
        self.modules: dict[str, ModuleFile] = {main.file: main}
        self.block = Block()
        self.order = 0
        self.effort = MOST_EFFORT
        self.depth = 0  # of loops and branches around
        self.frames: list[Frame] = [Frame(None, None)]
        self.visits: dict[int, int] = {}
        self.most_visits = MOST_VISITS
        self.most_depth = MOST_DEPTH
        self.aside = False  # entered without a caller: other files are not followed then, which large code bases could not afford
        self.reached: set[int] = set()  # functions that were followed at least once
        self.made: dict[int, list[Instance]] = {}  # instances of each class
        self.silent = 0  # > 0 while definitions of other files are looked up: nothing happens then
        self.writes: list[tuple[Instance, str, Value | None]] = []
        self.classes: dict[int, Class] = {}
        self.scopes: list[Scope] = []
        # what each expression stood for, where that is wanted
        self.seen: dict[int, list[Value]] | None = None
        self.parts: list[Part] = []
        self.beginnings: list[Block] = []

    def begin(self) -> Block:
        """A new entry: an empty history and full effort."""
        self.block = Block()
        self.beginnings.append(self.block)
        self.effort = MOST_EFFORT
        self.depth = 0
        self.frames = [Frame(None, None)]
        self.writes.clear()
        return self.block

    def spend(self) -> None:
        self.effort -= 1
        if self.effort < 0:
            raise OutOfEffort

    def event(self, kind: str, value: Value, node: ast.AST, target: Target | None = None) -> None:
        if not self.silent:
            self.order += 1
            happens = EVENTS.get(kind, Event)
            self.block.items.append(happens(kind, value, node, self.block, self.order, target))

    def enter(self, part: Part) -> None:
        self.parts.append(part)
        if not self.silent:
            self.block.items.append(part)

    def new_scope(self, outer: Scope, module: ModuleFile) -> Scope:
        scope = Scope(outer, module)
        self.scopes.append(scope)
        return scope

    @contextmanager
    def silently(self) -> Iterator[None]:
        """What is evaluated here does not happen."""
        self.silent += 1
        try:
            yield
        finally:
            self.silent -= 1

    def branch(self, node: ast.AST, test: Value | None, kind: str = "if") -> Branch:
        """Alternatives that begin here."""
        branch = Branch(node, self.block, self.next_order(), test, kind)
        self.enter(branch)
        return branch

    def dispose(self) -> None:
        """Take everything apart, so that it is freed at once: thousands of files are checked with the collector off."""
        for scope in self.scopes:
            scope.names = {}
            scope.later = None
        for part in self.parts:
            for block in part.blocks:
                block.items.clear()
            part.blocks.clear()
        for block in self.beginnings:
            block.items.clear()
        for cls in self.classes.values():
            cls.dispose()
        for made in self.made.values():
            for instance in made:
                instance.dispose()
        for module in self.modules.values():
            module.scope.names = {}
            module.scope.later = None
            module.scope.module = None  # type: ignore[assignment]
        self.block.items.clear()
        self.made.clear()
        self.modules.clear()

    def next_order(self) -> int:
        self.order += 1
        return self.order

    def inside(self, part: Part, work: Callable[[], bool]) -> bool:
        """Do work in a new block of a part; returns what the work returns (does the path go on?)."""
        outer = self.block
        self.block = part.open()
        try:
            return work()
        finally:
            self.block = outer

    def aside_work(self, work: Callable[[], object]) -> None:
        """Evaluate something whose events do not count, at any time; what cannot be finished is left out."""
        outer, spent = self.block, self.effort
        self.block, self.effort = Block(), EFFORT_ASIDE
        self.beginnings.append(self.block)
        try:
            work()
        except OutOfEffort:
            pass
        finally:
            self.block, self.effort = outer, spent

    def store_attribute(self, instance: Instance, name: str, value: Value, node: ast.AST) -> None:
        self.writes.append((instance, name, instance.attributes.get(name)))
        instance.attributes[name] = value
        instance.stores[name] = node

    def paths(self, scope: Scope, works: list[Callable[[], bool]]) -> list[bool]:
        """Evaluate alternatives, each from the same start, and join what they leave behind; does each path go on?"""
        start = dict(scope.names)
        mark = len(self.writes)
        ends: list[tuple[dict[str, Value | Callable[[], Value]], dict[tuple[int, str], Value], bool]] = []
        touched: dict[tuple[int, str], tuple[Instance, Value | None]] = {}
        self.depth += 1
        for work in works:
            scope.names = dict(start)
            goes_on = work()
            written: dict[tuple[int, str], Value] = {}
            for instance, name, old in reversed(self.writes[mark:]):
                key = (id(instance), name)
                written.setdefault(key, instance.attributes[name])
                touched.setdefault(key, (instance, None))
                touched[key] = (instance, old)
                if old is None:
                    instance.attributes.pop(name, None)
                else:
                    instance.attributes[name] = old
            del self.writes[mark:]
            ends.append((scope.names, written, goes_on))
        self.depth -= 1
        living = [end for end in ends if end[2]] or ends
        scope.names = _joined([names for names, _, _ in living])
        for key, (instance, old) in touched.items():
            values = [written.get(key, old) for _, written, _ in living]
            known = [value for value in values if value is not None]
            if known:
                self.writes.append((instance, key[1], old))
                instance.attributes[key[1]] = either(*known)
        return [goes_on for _, _, goes_on in ends]


def _joined(ends: list[dict[str, Value | Callable[[], Value]]]) -> dict[str, Value | Callable[[], Value]]:
    if len(ends) == 1:
        return ends[0]
    joined = dict(ends[0])
    for names in ends[1:]:
        for name, value in names.items():
            known = joined.get(name)
            if known is None:
                joined[name] = value
            elif known is not value and isinstance(known, Value) and isinstance(value, Value):
                joined[name] = either(known, value)
    return joined
