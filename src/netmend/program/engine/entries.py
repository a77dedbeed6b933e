"""Where evaluation begins: the file's top level, then functions and methods that nothing else in the file had entered."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netmend.program.engine.calls import is_generator, run_body
from netmend.program.engine.definitions import define_later, make_class
from netmend.program.engine.expressions import evaluate
from netmend.program.engine.history import Block, Body
from netmend.program.engine.machine import ASIDE_DEPTH, MOST_ASIDES, Machine, OutOfEffort
from netmend.program.engine.scope import Scope
from netmend.program.engine.statements import execute
from netmend.program.engine.values import Attribute, Class, Function, Instance, Name, Param, Value

# Calls at the top level of libraries that do nothing for training.
_DEFINING = frozenset(
    ("getLogger", "get_logger", "TypeVar", "NewType", "namedtuple", "NamedTuple", "frozenset", "compile", "is_torch_available")
)  # fmt: skip
FunctionDefinition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entry:
    """One evaluation. `complete`: to its end; where it is not, what was not seen proves nothing."""

    name: str
    kind: str  # "file", "function", "method"
    block: Block
    complete: bool
    function: Function | None = None
    owner: Instance | None = None
    result: Value | None = None  # what the function returns


def evaluate_entries(machine: Machine, interest: Sequence[int] | None) -> Iterator[Entry]:
    module = machine.main
    block = machine.begin()
    text = _Text(module.text, interest)
    if only_defines(module.tree):
        define_later(machine, module)
        complete = True
    else:
        complete = _attempt(lambda: execute(machine, module.tree.body, module.scope))
    yield Entry("<file>", "file", block, complete)
    machine.visits.clear()
    machine.most_visits, machine.most_depth, machine.aside = MOST_ASIDES, ASIDE_DEPTH, True
    functions, classes = _definitions(module.tree)
    wanted = text.with_callers(functions)
    later = {id(node) for node in wanted if text.is_called(node)}
    for node in sorted(wanted, key=lambda node: id(node) in later):
        if id(node) not in machine.reached and not (module.may_yield and is_generator(node)):
            yield _function(machine, Function(node, module.scope, module), None, "function")
    for definition in classes:
        if text.has(definition) or _is_dataset(definition):
            yield from _class(machine, definition, text)


def _class(machine: Machine, definition: ast.ClassDef, text: _Text) -> Iterator[Entry]:
    cls = make_class(machine, definition, machine.main.scope)
    made = machine.made.get(id(definition), [])
    if made:
        instance = made[0]
    else:
        instance = Instance(cls, None)
        machine.made.setdefault(id(definition), []).append(instance)
        constructor = cls.method("__init__")
        if constructor is not None:
            bound = constructor.bound(instance)
            yield _function(machine, bound, instance, "method")
    # What `__init__` makes of interest is used in the other methods, which need not name it again.
    own = cls.methods.get("__init__")
    whole = own is not None and text.has(own.definition)
    methods = [
        method
        for method in cls.methods.values()
        if id(method.definition) not in machine.reached
        and (whole or method.name == "__getitem__" or text.has(method.definition))
        and not (method.module.may_yield and is_generator(method.definition))
    ]
    later = [method for method in methods if text.is_called(method.definition)]
    for method in [*(method for method in methods if method not in later), *later]:
        if id(method.definition) not in machine.reached:
            bound = method.bound(instance)
            yield _function(machine, bound, instance, "method")


def only_defines(tree: ast.Module) -> bool:
    """A library: its top level makes functions, classes and constants, and runs nothing."""
    return all(_is_passive(node) for node in tree.body)


def _last_name(node: ast.AST) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _is_passive(node: ast.stmt) -> bool:
    """Does a statement of the top level only define things? A file of such statements is read name by name, when asked."""
    if isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass
    ):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return all(
            _last_name(part.func) in _DEFINING for part in ast.walk(node) if isinstance(part, ast.Call)
        )
    if isinstance(node, ast.If):
        return all(_is_passive(part) for part in (*node.body, *node.orelse))
    if isinstance(node, ast.Try):
        handled = (part for handler in node.handlers for part in handler.body)
        return all(_is_passive(part) for part in (*node.body, *node.orelse, *node.finalbody, *handled))
    return False


def _is_dataset(definition: ast.ClassDef) -> bool:
    """What a data set gives is what training gets."""
    return any(_last_name(base).endswith("Dataset") for base in definition.bases)


def _function(machine: Machine, function: Function, owner: Instance | None, kind: str) -> Entry:
    """Evaluate a function with parameters that nobody gave."""
    definition = function.definition
    block = machine.begin()
    machine.reached.add(id(definition))
    scope = machine.new_scope(function.scope, function.module)
    _parameters(machine, function, scope)
    body = Body(definition, block, machine.next_order(), function, None)
    machine.enter(body)
    result: list[Value] = []
    complete = _attempt(lambda: result.append(run_body(machine, function, scope, body)))
    return Entry(function.name, kind, block, complete, function, owner, result[0] if result else None)


def _parameters(machine: Machine, function: Function, scope: Scope) -> None:
    arguments = function.definition.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if function.owner is not None and positional and not _has_decorator(function.definition, "staticmethod"):
        owner = function.owner
        if isinstance(owner, Instance) and _has_decorator(function.definition, "classmethod"):
            owner = owner.cls
        scope.set(positional.pop(0).arg, owner)
    defaults: list[ast.expr | None] = list(arguments.defaults)
    missing = len(arguments.posonlyargs) + len(arguments.args) - len(defaults)
    by_position = [None] * missing + defaults
    offset = len(by_position) - len(positional)
    pairs = list(zip(positional, by_position[offset:], strict=True))
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    machine.silent += 1
    try:
        for parameter, default in pairs:
            value = evaluate(machine, default, function.scope) if default is not None else None
            scope.set(
                parameter.arg,
                Param(parameter.arg, _annotation(machine, parameter, function.scope), value, parameter),
            )
    finally:
        machine.silent -= 1
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            scope.set(extra.arg, Param(extra.arg, "", None, extra))


def _annotation(machine: Machine, parameter: ast.arg, scope: Scope) -> str:
    if not isinstance(parameter.annotation, ast.Name | ast.Attribute):
        return ""
    value = evaluate(machine, parameter.annotation, scope)
    if isinstance(value, Name):
        return value.qualified
    return value.name if isinstance(value, Class | Attribute) else ""


def _has_decorator(definition: ast.AST, name: str) -> bool:
    return any(getattr(part, "id", "") == name for part in getattr(definition, "decorator_list", ()))


def _attempt(work: object) -> bool:
    try:
        work()  # type: ignore[operator]
    except (OutOfEffort, RecursionError):
        return False
    return True


def top_level_classes(tree: ast.Module) -> list[ast.ClassDef]:
    return _definitions(tree)[1]


def _definitions(tree: ast.Module) -> tuple[list[ast.FunctionDef | ast.AsyncFunctionDef], list[ast.ClassDef]]:
    """Functions and classes of the top level, also inside `if` and `try` there."""
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    classes: list[ast.ClassDef] = []
    waiting: list[ast.stmt] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(node)
        elif isinstance(node, ast.ClassDef):
            classes.append(node)
        elif isinstance(node, ast.If | ast.Try):
            waiting.extend(reversed([*node.body, *node.orelse]))
    return functions, classes


class _Text:
    """The file's text, asked piece by piece without copying, and the places in it that rules are interested in."""

    def __init__(self, text: str, interest: Sequence[int] | None) -> None:
        self._text = text
        self._interest = interest
        self._starts = [0]
        position = text.find("\n")
        while position >= 0:
            self._starts.append(position + 1)
            position = text.find("\n", position + 1)
        self._starts.append(len(text))

    def has(self, node: ast.AST, places: Sequence[int] | None = None) -> bool:
        """Does one of the places (default: of interest) lie inside a definition?"""
        places = self._interest if places is None else places
        if places is None:
            return True
        first, last = node.lineno - 1, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        start = self._starts[min(first, len(self._starts) - 1)]
        end = self._starts[last] if last < len(self._starts) else len(self._text)
        position = bisect_left(places, start)
        return position < len(places) and places[position] < end

    def with_callers(self, functions: Sequence[FunctionDefinition]) -> list[FunctionDefinition]:
        """Functions of interest, and those that mention one of them: they may call it with known arguments."""
        if self._interest is None:
            return list(functions)
        wanted = [node for node in functions if self.has(node)]
        calls = sorted(place for node in wanted for place in self._mentions(node.name))
        return [node for node in functions if node in wanted or self.has(node, calls)]

    def _mentions(self, name: str) -> Iterator[int]:
        position = self._text.find(f"{name}(")
        while position >= 0:
            if self._text[max(position - 4, 0) : position] != "def ":
                yield position
            position = self._text.find(f"{name}(", position + 1)

    def is_called(self, node: ast.AST) -> bool:
        """Does the file mention `name(` anywhere but in its definition?"""
        name = getattr(node, "name", "")
        return self._text.count(f"{name}(") > self._text.count(f"def {name}(")
