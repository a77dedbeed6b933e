"""What an expression stands for, without running it: constants, names of libraries, calls with their arguments.

Values form a graph: the argument of a call is the value that reaches it, through variables, attributes and functions of the
project. The same object means the same thing at run time; `Either` holds what different paths would give.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from netmend.program.engine.scope import ModuleFile, Scope

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Value:
    """Anything; `node` is the expression or statement that made it."""

    __slots__ = ("node",)
    node: ast.AST | None

    def __init__(self, node: ast.AST | None = None) -> None:
        self.node = node


class Unknown(Value):
    """Cannot be told from the text."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Const(Value):
    """A Python constant: number, string, None, True."""

    value: Any
    node: ast.AST | None = None

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


@dataclass(slots=True, eq=False, repr=False)
class Name(Value):
    """Something of a library or a builtin, by its qualified name: `torch.nn.Linear`."""

    qualified: str
    node: ast.AST | None = None

    def __repr__(self) -> str:
        return f"Name({self.qualified})"


@dataclass(slots=True, eq=False, repr=False)
class Param(Value):
    """A parameter of a function that is looked at without a known caller."""

    name: str
    annotation: str  # qualified name of the annotation, "" without one
    default: Value | None
    node: ast.AST | None

    def __repr__(self) -> str:
        return f"Param({self.name})"


class Function(Value):
    """A function of the project; `owner` is the instance it is bound to."""

    __slots__ = ("definition", "module", "owner", "scope", "within")

    def __init__(
        self,
        definition: FunctionNode,
        scope: Scope,
        module: ModuleFile,
        owner: Value | None = None,
        within: Class | None = None,
    ) -> None:
        self.node = definition
        self.definition = definition
        self.scope = scope
        self.module = module
        self.owner = owner
        self.within = within  # the class that it is written in, for super()

    def bound(self, owner: Value) -> Function:
        """The method of an object."""
        return Function(self.definition, self.scope, self.module, owner, self.within)

    @property
    def name(self) -> str:
        return getattr(self.definition, "name", "<lambda>")


class Class(Value):
    """A class of the project. Its bases and attributes are evaluated when they are asked for: that may need other files."""

    __slots__ = ("_attributes", "_bases", "_fill", "definition", "methods", "module")

    def __init__(
        self,
        definition: ast.ClassDef,
        module: ModuleFile,
        methods: dict[str, Function],
        fill: Callable[[], tuple[tuple[Value, ...], dict[str, Value]]],
    ) -> None:
        self.node = definition
        self.definition = definition
        self.module = module
        self.methods = methods
        self._fill: Callable[[], tuple[tuple[Value, ...], dict[str, Value]]] | None = fill
        self._bases: tuple[Value, ...] = ()
        self._attributes: dict[str, Value] = {}

    @property
    def bases(self) -> tuple[Value, ...]:
        self._filled()
        return self._bases

    @property
    def attributes(self) -> dict[str, Value]:
        self._filled()
        return self._attributes

    def _filled(self) -> None:
        if self._fill is not None:
            fill, self._fill = self._fill, None
            self._bases, self._attributes = fill()

    def dispose(self) -> None:
        self._fill, self._bases = None, ()
        self._attributes.clear()
        self.methods.clear()

    @property
    def name(self) -> str:
        return self.definition.name

    def ancestry(self) -> Iterator[Value]:
        """The class and its bases, nearest first; library bases as `Name`, others as they are."""
        waiting: list[Value] = [self]
        seen: set[int] = set()
        while waiting:
            value = waiting.pop(0)
            if id(value) in seen:
                continue
            seen.add(id(value))
            yield value
            if isinstance(value, Class):
                waiting.extend(value.bases)

    def method(self, name: str, after: Class | None = None) -> Function | None:
        """The method that a call of this name reaches; with `after`, the one that super() in that class reaches."""
        passed = after is None
        for value in self.ancestry():
            if not passed:
                passed = value is after
                continue
            if isinstance(value, Class) and name in value.methods:
                return value.methods[name]
            if isinstance(value, Name) and name not in ("__init__", "forward", "call", "__call__"):
                continue
        return None

    def inherits(self, *names: str) -> bool:
        """Does a library class of one of these names (full, or a prefix ending in a dot) stand above it?"""
        for value in self.ancestry():
            if isinstance(value, Name) and any(
                value.qualified == name or (name.endswith(".") and value.qualified.startswith(name))
                for name in names
            ):
                return True
        return False

    @property
    def is_known(self) -> bool:
        """Are all bases either of the project or named library classes?"""
        return all(isinstance(value, Class | Name) for value in self.ancestry())


class Instance(Value):
    """An object of a project class, with what was stored in its attributes so far."""

    __slots__ = ("_attributes", "_later", "arguments", "cls", "stores")

    def __init__(self, cls: Class, node: ast.AST | None = None) -> None:
        self.node = node
        self.cls = cls
        self.stores: dict[str, ast.AST] = {}  # where each attribute was stored last
        self.arguments: tuple[tuple[Value, ...], dict[str, Value]] = ((), {})
        self._attributes: dict[str, Value] = {}
        self._later: Callable[[], None] | None = None

    @property
    def attributes(self) -> dict[str, Value]:
        if self._later is not None:
            later, self._later = self._later, None
            later()
        return self._attributes

    def initialise_later(self, work: Callable[[], None]) -> None:
        """`__init__` is evaluated when an attribute is asked for."""
        self._later = work

    def dispose(self) -> None:
        self._later = None
        self._attributes.clear()

    def __repr__(self) -> str:
        return f"Instance({self.cls.name})"


class Call(Value):
    """The result of a call. `result` is set when the callee was followed: what it returns."""

    __slots__ = ("added", "args", "depth", "function", "keywords", "open", "result")
    node: ast.Call | None

    def __init__(
        self,
        function: Value,
        args: tuple[Value, ...] = (),
        keywords: dict[str, Value] | None = None,
        node: ast.Call | None = None,
        *,
        open: bool = False,
    ) -> None:
        self.node = node
        self.function = function
        self.args = args
        self.keywords = keywords or {}
        self.open = open  # *args or **kwargs were given: there may be more arguments
        self.result: Value | None = None
        self.depth = 0  # of loops and branches where a container was made
        # layers that were added to a container afterwards; None: cannot be told
        self.added: list[Value] | None = None

    @property
    def qualified(self) -> str:
        """`torch.nn.Linear` for a call of a library name, else ""."""
        return self.function.qualified if isinstance(self.function, Name) else ""

    @property
    def method(self) -> str:
        """`backward` for `loss.backward()`, else ""."""
        return self.function.name if isinstance(self.function, Attribute) else ""

    @property
    def receiver(self) -> Value | None:
        """`loss` for `loss.backward()`."""
        return self.function.base if isinstance(self.function, Attribute) else None

    @property
    def subject(self) -> Value | None:
        """What it works on: `x` of `x.mean()` and of `torch.mean(x)`."""
        return self.receiver if self.method else next(iter(self.args), None)

    @property
    def given(self) -> tuple[Value, ...]:
        """All arguments, by position and by keyword."""
        return (*self.args, *self.keywords.values())

    def argument(self, name: str, position: int | None = None) -> Value | None:
        """The value given for an argument, by keyword or by position; None when its default holds."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.args):
            return self.args[position]
        return None

    def __repr__(self) -> str:
        return f"Call({self.function!r}, {len(self.args)})"


@dataclass(slots=True, eq=False, repr=False)
class Attribute(Value):
    """An attribute of something whose inside is not known: `loss.backward`, `batch.x`."""

    base: Value
    name: str
    node: ast.AST | None = None

    def __repr__(self) -> str:
        return f"{self.base!r}.{self.name}"


@dataclass(slots=True, eq=False, repr=False)
class Item(Value):
    """`base[key]`; the parts of an unpacked tuple have a constant key."""

    base: Value
    key: Value
    node: ast.AST | None = None


@dataclass(slots=True, eq=False, repr=False)
class Operation(Value):
    """Arithmetic, comparison or logic: `+`, `*`, `@`, `==`, `and`, `not`, `neg`; `slice`, `format`."""

    operator: str
    operands: tuple[Value, ...]
    node: ast.AST | None = None


class Collection(Value):
    """A list, tuple, set or dict that the program writes out. `open`: it may hold more than `items`."""

    __slots__ = ("depth", "items", "keys", "kind", "open", "repeated", "tail")

    def __init__(
        self,
        kind: str,
        items: list[Value],
        node: ast.AST | None = None,
        *,
        keys: list[Value | None] | None = None,
        open: bool = False,
        depth: int = 0,
    ) -> None:
        self.node = node
        self.kind = kind
        self.items = items
        self.keys = keys  # of a dict; None for `**other`
        self.open = open
        self.depth = depth  # of loops and branches where it was made
        self.tail: list[Value] = []  # of an open one: what is known to stand at its end
        self.repeated = False  # a comprehension: items stand for any number of the same kind

    def grow(self, items: list[Value], *, certain: bool) -> None:
        """More items at the end; `certain`: exactly these, on every path."""
        self.items.extend(items)
        if not certain:
            self.open, self.tail = True, []
        elif self.open:
            self.tail.extend(items)

    def get(self, key: object) -> Value | None:
        for known, item in zip(self.keys or (), self.items, strict=False):
            if isinstance(known, Const) and known.value == key:
                return item
        return None


@dataclass(slots=True, eq=False, repr=False)
class Element(Value):
    """One of what a loop runs over."""

    iterable: Value
    node: ast.AST | None = None


class Either(Value):
    """One of several, depending on the path."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[Value, ...]) -> None:
        self.node = options[0].node if options else None
        self.options = options


def options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Either) else (value,)


def constant(value: Value | None, default: Any = None) -> Any:
    """The Python constant that a value stands for, else the default."""
    return value.value if isinstance(value, Const) else default


@overload
def resolved(value: Value) -> Value: ...
@overload
def resolved(value: Value | None) -> Value | None: ...
def resolved(value: Value | None) -> Value | None:
    """What a followed call returned, however deep; the value itself when nothing was followed."""
    for _ in range(50):
        if not isinstance(value, Call) or value.result is None:
            return value
        value = value.result
    return value
