"""What a call changes about a picture by chance: ready transforms of libraries, functions and objects of the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from netmend.library.image_transforms import (
    CONTAINERS,
    LIBRARIES,
    MIRRORING,
    MOVING_CALLS,
    MOVING_NAMES,
    TRANSFORMS,
)
from netmend.program.engine.names import aliases
from netmend.program.engine.scope import ModuleFile
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Function,
    Instance,
    Name,
    Value,
    constant,
    resolved,
)
from netmend.program.text.queries import inside, last_name, stored_in, variables_in

DRAWS, MOVES, MIRRORS, TOPPLES, TURNS, COLOURS, HIDES = (
    "draws",
    "moves",
    "mirrors",
    "topples",
    "turns",
    "colours",
    "hides",
)
_WHAT = (MOVES, MIRRORS, TOPPLES, TURNS, COLOURS, HIDES)
_DRAWING = frozenset(
    ("random", "rand", "randn", "randint", "randrange", "uniform", "integers", "choice", "choices", "normal", "gauss", "bernoulli", "standard_normal", "random_sample",
     "permutation", "randperm", "triangular", "betavariate", "beta", "binomial", "sample", "rand_like", "randn_like", "get_params")
)  # fmt: skip
_SEEDED_MAKERS = frozenset(
    ("RandomState", "default_rng", "Random", "manual_seed", "seed", "set_state", "setstate", "set_rng_state")
)
_NO_DRAWS = re.compile(r"^(pandas|torch\.distributions)\.")
_DEEPEST = 4
_SEEDS = frozenset(
    (
        "seed",
        "manual_seed",
        "manual_seed_all",
        "seed_everything",
        "set_seed",
        "fix_seed",
        "set_state",
        "setstate",
        "set_rng_state",
        "set_random_seed",
        "set_random_state",
    )
)


def chance(value: Value | None, depth: int = _DEEPEST) -> frozenset[str]:
    """What calling a value changes by chance, in the words of this module; empty where nothing is drawn, or where it cannot be told."""
    value = resolved(value)
    if value is None or depth == 0:
        return frozenset()
    if isinstance(value, Either):
        return frozenset().union(*(chance(option, depth) for option in value.options))
    if isinstance(value, Collection):
        return frozenset().union(*(chance(item, depth) for item in value.items))
    if isinstance(value, Instance):
        method = value.cls.method("__call__") or value.cls.method("forward")
        return _of_function(method.bound(value), depth) if method is not None else frozenset()
    if isinstance(value, Function):
        return _of_function(value, depth)
    return _of_library(value, depth) if isinstance(value, Call) else frozenset()


def is_transform_of_library(value: Value | None) -> bool:
    value = resolved(value)
    return isinstance(value, Call) and value.qualified.startswith(LIBRARIES)


def _of_library(call: Call, depth: int) -> frozenset[str]:
    name = call.qualified.rpartition(".")[2]
    if call.qualified in ("functools.partial", "torch.jit.script") or name == "Lambda":
        return chance(call.args[0], depth - 1) if call.args else frozenset()
    is_ready = call.qualified.startswith(LIBRARIES)
    likely = constant(call.keywords.get("p"))
    if likely == 0:
        return frozenset()
    if name in CONTAINERS and (is_ready or call.qualified == "torch.nn.Sequential"):
        return frozenset().union(*(chance(given, depth) for given in call.given))
    known = TRANSFORMS.get(name) if is_ready else None
    if known is None or (known.mirrors != known.topples and likely == 1):
        return frozenset()
    return frozenset((DRAWS, *(word for word in _WHAT if getattr(known, word))))


def steps(value: Value | None) -> Iterator[Call]:
    """The ready transforms that a value applies, however they are nested."""
    value = resolved(value)
    if isinstance(value, Either):
        for option in value.options:
            yield from steps(option)
    elif isinstance(value, Collection):
        for item in value.items:
            yield from steps(item)
    elif isinstance(value, Call) and value.qualified.startswith((*LIBRARIES, "torch.nn.Sequential")):
        if value.qualified.rpartition(".")[2] in CONTAINERS:
            for given in value.given:
                yield from steps(given)
        else:
            yield value


# -- functions of the project


def _of_function(function: Function, depth: int) -> frozenset[str]:
    body = Drawing(function.definition, function.module, function.owner)
    if body.is_seeded:
        return frozenset()
    found = set(body.changes())
    for value in _mentioned(function, body):
        found |= chance(value, depth - 1)
    return frozenset(found)


def _mentioned(function: Function, body: Drawing) -> Iterator[Value]:
    """Objects and functions that a function uses: attributes of its owner, functions of its file."""
    owner = function.owner if isinstance(function.owner, Instance) else None
    seen: set[str] = set()
    for node, parents in _with_parents(function.definition):
        name = last_name(node)
        if not name or name in seen or body.never_runs(node, parents):
            continue
        seen.add(name)
        if isinstance(node, ast.Attribute):
            if owner is None or not isinstance(node.value, ast.Name) or node.value.id != "self":
                continue
            held = owner.attributes.get(name)
            method = owner.cls.method(name) if held is None else None
            if held is not None:
                yield held
            elif method is not None and method.definition is not function.definition:
                yield method.bound(owner)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found = function.scope.get(name)
            if isinstance(found, Function | Instance | Call) and found is not function:
                yield found


class Drawing:
    """A function's text: which numbers it draws, and what it changes depending on them."""

    def __init__(self, definition: ast.AST, module: ModuleFile, owner: Value | None = None) -> None:
        self._definition = definition
        self._owner = owner if isinstance(owner, Instance) else None
        self._imported = aliases(module.nodes)
        self._names: set[str] = set()
        for _ in range(2):  # names that are drawn, and names computed from them
            for node in inside(definition, ast.Assign, ast.NamedExpr, ast.AnnAssign):
                if node.value is not None and self.depends(node.value):
                    self._names |= stored_in(node)

    @property
    def is_seeded(self) -> bool:
        """Does the function set a seed itself? Then its draws can be the same each time."""
        return any(
            last_name(call.func) in _SEEDED_MAKERS and (call.args or call.keywords)
            for call in inside(self._definition, ast.Call)
        )

    def draws(self, node: ast.AST) -> bool:
        """Does an expression itself draw a number?"""
        return any(self._is_draw(call) for call in inside(node, ast.Call))

    def depends(self, node: ast.AST) -> bool:
        """Does an expression depend on a number that was drawn?"""
        return self.draws(node) or not self._names.isdisjoint(variables_in(node))

    def _is_draw(self, call: ast.Call) -> bool:
        name = last_name(call.func)
        if name not in _DRAWING:
            return False
        first = call.func
        while isinstance(first, ast.Attribute):
            first = first.value
        source = self._imported.get(first.id, "") if isinstance(first, ast.Name) else ""
        if isinstance(call.func, ast.Name):
            return source.startswith(("random.", "numpy.random.", "torch."))
        if name in ("sample", "choice", "normal", "beta", "permutation") and not source:
            return "rng" in ast.unparse(call.func) or "rand" in ast.unparse(call.func)
        return not _NO_DRAWS.match(source + ".")

    def changes(self) -> Iterator[str]:
        """What the function moves by chance, in its own text."""
        for node, parents in _with_parents(self._definition):
            what = _moved(node)
            if what and self.is_by_chance(node, parents) and not self.never_runs(node, parents):
                yield DRAWS
                yield from what

    def is_by_chance(self, node: ast.AST, parents: tuple[ast.AST, ...]) -> bool:
        """Does it happen, or how it happens, depend on a number that was drawn?"""
        if self.depends(node):
            return True
        for above in parents:
            if isinstance(above, ast.If | ast.IfExp | ast.While) and self.depends(above.test):
                return True
            if isinstance(above, ast.Call) and self._is_draw(above):
                return True
        return False

    def never_runs(self, node: ast.AST, parents: tuple[ast.AST, ...]) -> bool:
        """Does it stand on a path that the owner's settings never take?"""
        chain = (*parents, node)
        for above, inner in pairwise(chain):
            if isinstance(above, ast.If | ast.IfExp):
                setting = self._setting(above.test)
                body = above.body if isinstance(above.body, list) else [above.body]
                is_first = any(inner is part for part in body)
                is_second = inner is not above.test and not is_first
                if (setting is False and is_first) or (setting is True and is_second):
                    return True
        return False

    def _setting(self, test: ast.expr) -> bool | None:
        """What a test of the owner's own attribute gives, where that is a constant."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return False if any(self._setting(part) is False for part in test.values) else None
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._setting(test.operand)
            return None if inner is None else not inner
        against_none = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot | ast.NotEq)
        read = test.left if isinstance(test, ast.Compare) and against_none else test
        if self._owner is None or not isinstance(read, ast.Attribute) or last_name(read.value) != "self":
            return None
        held = self._owner.attributes.get(read.attr)
        if not isinstance(held, Const):
            return None
        if isinstance(test, ast.Compare):
            other = test.comparators[0]
            return held.value != other.value if isinstance(other, ast.Constant) else None
        return bool(held.value)


def _moved(node: ast.AST) -> tuple[str, ...]:
    """What an expression does to a picture, if it flips, turns, warps or cuts one."""
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name in MOVING_CALLS:
            return (MOVES, MIRRORS) if name in MIRRORING else (MOVES,)
        if name == "transpose" and any(last_name(given) in MOVING_NAMES for given in node.args):
            mirrors = any(last_name(given) == "FLIP_LEFT_RIGHT" for given in node.args)
            return (MOVES, MIRRORS) if mirrors else (MOVES,)
        return ()
    if not isinstance(node, ast.Subscript):
        return ()
    axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    slices = [axis for axis in axes if isinstance(axis, ast.Slice)]
    if any(isinstance(axis.step, ast.UnaryOp) and isinstance(axis.step.op, ast.USub) for axis in slices):
        return (MOVES,)
    cut = [axis for axis in slices if axis.lower is not None and axis.upper is not None]
    return (MOVES,) if len(cut) > 1 else ()


def _with_parents(definition: ast.AST) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(definition, ())]
    while waiting:
        node, parents = waiting.pop()
        yield node, parents
        around = (*parents, node)
        waiting.extend((child, around) for child in ast.iter_child_nodes(node))


def moves(value: Value) -> bool:
    """Is a value the result of a flip, turn, warp or cut, by chance or not?"""
    return value.node is not None and bool(_moved(value.node))


def moves_by_chance(value: Value, module: ModuleFile | None) -> bool:
    """Is a value the result of a flip, turn, warp or cut of a library that depends on a number drawn where it stands?"""
    node = value.node
    if node is None or module is None or not isinstance(node, ast.Call | ast.Subscript) or not _moved(node):
        return False
    chain = module.chain(node)
    function = module.function(node)
    if chain is None or function is None:
        return False
    inner = chain[chain.index(function) :] if function in chain else chain
    return Drawing(function, module).is_by_chance(node, tuple(inner))


def is_seed(call: Call) -> bool:
    """Does a call put a generator back to a state that is written down?"""
    return (call.qualified or call.method or _plain_name(call)).rpartition(".")[2] in _SEEDS


def _plain_name(call: Call) -> str:
    function = call.function
    if isinstance(function, Function):
        return function.name
    return (
        function.name
        if isinstance(function, Attribute)
        else function.qualified
        if isinstance(function, Name)
        else ""
    )
