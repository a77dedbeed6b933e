"""Where data comes from: from an expression in the training loop back through names, loaders, data sets and functions.

Nothing is executed; where the way cannot be told from the text it ends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as Place
from weakref import WeakKeyDictionary

from netmend.program.source.bindings import (
    EACH,
    Binding,
    binding_of,
    bindings_in,
    given_for,
    is_generator,
    results,
)
from netmend.program.source.naming import imports
from netmend.program.text.file import File
from netmend.program.text.queries import Function, arguments_of, inside, last_name
from netmend.program.text.sources import Code

_MOST_HOPS = 24
_MOST_WAYS = 8

Path = tuple[object, ...]

# Calls that hand on what they iterate over.
_PASSING = ("DataLoader", "Subset", "tqdm", "list", "iter", "tuple", "cycle", "reversed", "sorted", "trange")
_PIECES = ("split", "chunk", "unbind", "array_split", "tensor_split")
# Methods of random generators: what they are called on is no data.
_DRAWS = (
    "normal", "integers", "randint", "random", "uniform", "choice", "permutation", "standard_normal", "gamma", "exponential",
    "poisson", "binomial", "multivariate_normal", "beta", "rand", "randn",
)  # fmt: skip
_FITTED = ("fit_transform", "transform", "inverse_transform", "fit")


@dataclass(frozen=True)
class Frame:
    """A call that is being looked into: its function's parameters are what the call gives."""

    function: ast.AST | None
    call: ast.Call
    file: File
    outer: Frame | None = None
    instance: Frame | None = None  # the call that made the object whose method this is


@dataclass(frozen=True)
class Step:
    """One stage of the way back: the expression that holds the data there.

    `kind`: "bound" (the value that a name is given), "part" (an index or slice is taken), "returned" (a function or data set
    hands it out), "other". With a `path` it is not the data itself but something that contains it; for "bound" that is the
    path from the name, not from the value.
    """

    kind: str
    file: File
    node: ast.expr
    path: Path = ()
    name: str = ""
    statement: ast.stmt | None = None


Flow = tuple[Step, ...]


def flows(code: Code, file: File, node: ast.expr, path: Path = ()) -> list[Flow]:
    """The ways that an expression's value may have come, nearest stage first; several where a function has several callers."""
    found: list[Flow] = []
    for flow in _Follower(code).follow(file, node, path, None, 0):
        found.append(flow)
        if len(found) == _MOST_WAYS:
            break
    return found


class _Definitions:
    """The program's own classes and functions by name; the first of a name counts."""

    def __init__(self, code: Code) -> None:
        self.classes: dict[str, tuple[File, ast.ClassDef]] = {}
        self.functions: dict[str, tuple[File, Function]] = {}
        for file in code.files():
            for node in ast.walk(file.tree):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, (file, node))
                elif isinstance(node, Function):
                    self.functions.setdefault(node.name, (file, node))


_KNOWN: WeakKeyDictionary[Code, _Definitions] = WeakKeyDictionary()


class _Follower:
    def __init__(self, code: Code) -> None:
        self.code = code
        if code not in _KNOWN:
            _KNOWN[code] = _Definitions(code)
        self.known = _KNOWN[code]

    def follow(
        self, file: File, node: ast.expr, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        if hops > _MOST_HOPS:
            yield ()
            return
        ways: Iterator[Flow] | None = None
        kind = "other"
        if isinstance(node, ast.Name):
            ways = self._name(file, node, path, frame, hops + 1)
        elif isinstance(node, ast.Attribute):
            ways = self._attribute(file, node, path, frame, hops + 1)
        elif isinstance(node, ast.Subscript):
            kind = "part"
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            inner = path if key is None else (key, *path)
            ways = self.follow(file, node.value, inner, frame, hops + 1)
        elif isinstance(node, ast.Tuple | ast.List):
            ways = self._element(file, node, path, frame, hops)
        elif isinstance(node, ast.Dict):
            ways = self._entry(file, node, path, frame, hops)
        elif isinstance(node, ast.Call):
            ways = self._call(file, node, path, frame, hops + 1)
        else:
            inner_node = _inside(node)
            if inner_node is not None:
                ways = self.follow(file, inner_node, path, frame, hops + 1)
        step = Step(kind, file, node, path)
        any_way = False
        for way in ways if ways is not None else ():
            any_way = True
            yield (step, *way)
        if not any_way:
            yield (step,)

    def _name(self, file: File, node: ast.Name, path: Path, frame: Frame | None, hops: int) -> Iterator[Flow]:
        binding = binding_of(file, node)
        if binding is not None:
            yield from self._bound(file, binding, path, frame, hops)
            return
        function = file.function(node)
        if function is not None and node.id in arguments_of(function):
            yield from self._parameter(file, function, node.id, path, frame, hops)
            return
        module, _, name = imports(file).get(node.id, "").rpartition(".")
        for other in self.code.files(file.file) if module else ():
            if Place(other.file).stem == module.rpartition(".")[2] and (
                found := bindings_in(other.tree, name)
            ):
                yield from self._bound(other, found[-1], path, None, hops)
                return

    def _bound(
        self, file: File, binding: Binding, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        full = (*binding.path, *path)
        step = Step("bound", file, binding.value, path, binding.name, binding.statement)
        same = frame if frame is not None and _within(file, binding.statement, frame.function) else None
        for way in self.follow(file, binding.value, full, same, hops):
            yield (step, *way)

    def _parameter(
        self, file: File, function: Function, name: str, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        if frame is not None and frame.function is function:
            made = frame.instance if function.name == "__init__" and frame.instance is not None else frame
            given = given_for(function, made.call, name)
            if given is not None:
                yield from self.follow(made.file, given[0], (*given[1], *path), made.outer, hops)
            return
        owner = file.owner(function)
        called = owner.name if owner is not None and function.name == "__init__" else function.name
        for other in self.code.files(file.file):
            for call in other.calls(called):
                given = given_for(function, call, name)
                if given is not None:
                    yield from self.follow(other, given[0], (*given[1], *path), None, hops)

    def _attribute(
        self, file: File, node: ast.Attribute, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        owner = file.owner(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self" and owner is not None:
            yield from self._field(file, owner, node.attr, path, frame, hops)
        elif isinstance(node.value, ast.Name):
            binding = binding_of(file, node.value)
            made = binding.value if binding is not None and not binding.path else None
            own = self._class(made) if isinstance(made, ast.Call) else None
            if own is not None and isinstance(made, ast.Call):
                inner = Frame(None, made, file, frame)
                yield from self._field(own[0], own[1], node.attr, path, Frame(None, made, file, frame, inner), hops)  # fmt: skip

    def _field(
        self, file: File, owner: ast.ClassDef, name: str, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        """What `self.name` is set to in its class: the first time, in `__init__` where it is set there."""
        for method in sorted(
            (m for m in owner.body if isinstance(m, Function)), key=lambda m: m.name != "__init__"
        ):
            for node in inside(method, ast.Assign):
                for target in node.targets:
                    found = _field_target(target, node.value, name)
                    if found is None:
                        continue
                    value, inner = found
                    made = frame.instance if frame is not None else None
                    within = None if made is None else Frame(method, made.call, made.file, made.outer, made)
                    full = (*inner, *path)
                    step = Step("bound", file, value, path, f"self.{name}", node)
                    for way in self.follow(file, value, full, within, hops):
                        yield (step, *way)
                    return

    def _element(
        self, file: File, node: ast.Tuple | ast.List, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        if path and isinstance(path[0], int) and -len(node.elts) <= path[0] < len(node.elts):
            yield from self.follow(file, node.elts[path[0]], path[1:], frame, hops + 1)

    def _entry(
        self, file: File, node: ast.Dict, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        for key, value in zip(node.keys, node.values, strict=True):
            if path and isinstance(key, ast.Constant) and key.value == path[0]:
                yield from self.follow(file, value, path[1:], frame, hops + 1)

    def _call(self, file: File, call: ast.Call, path: Path, frame: Frame | None, hops: int) -> Iterator[Flow]:
        name = last_name(call.func)
        first = (
            call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "dataset"), None)
        )
        own = self._class(call)
        function = self._function(file, call)
        if own is not None:
            yield from self._own_data(own[0], own[1], call, file, path, frame, hops)
        elif function is not None:
            inner = Frame(function[1], call, file, frame)
            yield from self._results(function[0], function[1], path, inner, hops)
        elif name == "enumerate" and first is not None:
            if path[:2] == (EACH, 1):
                yield from self.follow(file, first, (EACH, *path[2:]), frame, hops)
        elif name == "zip" and path[:1] == (EACH,) and len(path) > 1:
            if isinstance(path[1], int) and path[1] < len(call.args):
                yield from self.follow(file, call.args[path[1]], (EACH, *path[2:]), frame, hops)
        elif name == "next" and first is not None:
            yield from self.follow(file, first, (EACH, *path), frame, hops)
        elif name == "map" and len(call.args) == 2:
            yield from self.follow(file, call.args[1], path, frame, hops)
        elif name == "TensorDataset":
            yield from self._tensors(file, call, path, frame, hops)
        elif name == "random_split" and first is not None:
            yield from self.follow(file, first, path[1:], frame, hops)
        elif name == "train_test_split" and path and isinstance(path[0], int) and call.args:
            index = path[0] // 2
            if index < len(call.args):
                yield from self.follow(file, call.args[index], path[1:], frame, hops)
        elif name in _PASSING and first is not None:
            yield from self.follow(file, first, path, frame, hops)
        else:
            yield from self._method(file, call, name, path, frame, hops)

    def _method(
        self, file: File, call: ast.Call, name: str, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        root = holder
        while isinstance(root, ast.Attribute):
            root = root.value
        of_library = isinstance(root, ast.Name) and root.id in imports(file)
        inner = path[1:] if name in _PIECES and path[:1] == (EACH,) else path
        if name in _DRAWS:
            return
        if name in _FITTED or holder is None or of_library:
            if call.args and not isinstance(call.args[0], ast.Constant):
                yield from self.follow(file, call.args[0], inner, frame, hops)
        else:
            yield from self.follow(file, holder, inner, frame, hops)

    def _tensors(
        self, file: File, call: ast.Call, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:
        index = path[1] if len(path) > 1 and path[0] == EACH else None
        if not isinstance(index, int):
            return
        if len(call.args) == 1 and isinstance(call.args[0], ast.Starred):
            yield from self.follow(file, call.args[0].value, path[1:], frame, hops)
        elif index < len(call.args):
            yield from self.follow(file, call.args[index], path[2:], frame, hops)

    def _own_data(
        self, file: File, owner: ast.ClassDef, call: ast.Call, at: File, path: Path, frame: Frame | None, hops: int
    ) -> Iterator[Flow]:  # fmt: skip
        """A data set or loader class of the program: what its `__getitem__` returns or its `__iter__` yields."""
        if path[:1] != (EACH,):
            return
        made = Frame(None, call, at, frame)
        for name in ("__getitem__", "__iter__"):
            for method in owner.body:
                if isinstance(method, Function) and method.name == name:
                    inner = Frame(method, call, at, frame, made)
                    keeps = path if name == "__iter__" and is_generator(method) else path[1:]
                    yield from self._results(file, method, keeps, inner, hops)
                    return

    def _results(self, file: File, function: Function, path: Path, frame: Frame, hops: int) -> Iterator[Flow]:
        inner = path[1:] if is_generator(function) and path[:1] == (EACH,) else path
        for value in results(function):
            node, rest = _picked(value, inner)
            step = Step("returned", file, node, rest, function.name, file.statement(node))
            for way in self.follow(file, node, rest, frame, hops):
                yield (step, *way)

    def _class(self, call: ast.Call) -> tuple[File, ast.ClassDef] | None:
        return self.known.classes.get(last_name(call.func))

    def _function(self, file: File, call: ast.Call) -> tuple[File, Function] | None:
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        found = self.known.functions.get(last_name(call.func))
        if found is None:
            return None
        owner = found[0].owner(found[1])
        if holder is not None and owner is None and not isinstance(holder, ast.Name):
            return None  # `x[i].mean()`, with a function `mean` of the program's own
        if holder is None and owner is not None:
            return None
        return found


def _picked(node: ast.expr, path: Path) -> tuple[ast.expr, Path]:
    """The element of a literal tuple that a path leads to."""
    while (
        isinstance(node, ast.Tuple | ast.List)
        and path
        and isinstance(path[0], int)
        and -len(node.elts) <= path[0] < len(node.elts)
    ):
        node, path = node.elts[path[0]], path[1:]
    if isinstance(node, ast.Dict) and path:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == path[0]:
                return _picked(value, path[1:])
    return node, path


def _inside(node: ast.expr) -> ast.expr | None:
    """The part of an expression that carries the data: `(x - mean) / std` → `x - mean`."""
    if isinstance(node, ast.BinOp):
        factor = isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Name | ast.Attribute)
        scaled = factor and not isinstance(node.right, ast.Name | ast.Attribute | ast.Constant)
        return node.right if scaled or isinstance(node.left, ast.Constant) else node.left
    if isinstance(node, ast.UnaryOp):
        return node.operand
    if isinstance(node, ast.IfExp):
        return node.body
    if isinstance(node, ast.Starred | ast.Await | ast.NamedExpr):
        return node.value
    return None


def _field_target(target: ast.expr, value: ast.expr, name: str) -> tuple[ast.expr, Path] | None:
    if isinstance(target, ast.Attribute):
        on_self = isinstance(target.value, ast.Name) and target.value.id == "self"
        return (value, ()) if on_self and target.attr == name else None
    if isinstance(target, ast.Tuple | ast.List):
        for index, part in enumerate(target.elts):
            if _field_target(part, value, name) is not None:
                if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                    return value.elts[index], ()
                return value, (index,)
    return None


def _within(file: File, node: ast.AST, function: ast.AST | None) -> bool:
    return function is not None and any(above is function for above in file.parents(node))
