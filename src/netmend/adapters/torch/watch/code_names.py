"""Which names a function of the user's mentions, itself and through methods of the same object. Nothing is executed."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

_DEEPEST = 4  # methods that call methods that …


def code_of(function: Any) -> CodeType | None:
    """The code behind a function, a method, a partial or a callable object; None where it is not Python's."""
    if isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        function = vars(type(function)).get("__call__")
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def own_methods(kind: type) -> dict[str, FunctionType]:
    """Python functions of a class and its bases, but for those of frameworks and of Python itself."""
    found: dict[str, FunctionType] = {}
    for base in kind.__mro__:
        if base.__module__.split(".")[0] in ("builtins", "torch", "abc", "typing", "collections"):
            continue
        for name, value in vars(base).items():
            if isinstance(value, FunctionType):
                found.setdefault(name, value)
    return found


def names_in(code: CodeType) -> set[str]:
    """Global names and attributes that a code object uses, with those of functions defined inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= names_in(constant)
    return found


def reached_names(kind: type, method: str) -> set[str]:
    """Names that a method mentions, itself or through other methods of its class that it mentions."""
    methods, found = own_methods(kind), set[str]()
    waiting, seen = [(method, 0)], set[str]()
    while waiting:
        name, depth = waiting.pop()
        if name in seen or name not in methods or depth > _DEEPEST:
            continue
        seen.add(name)
        names = names_in(methods[name].__code__)
        found |= names
        waiting.extend((other, depth + 1) for other in names)
    return found


def uses_argument(code: CodeType) -> bool:
    """Whether a function reads the first argument that it is given."""
    if not code.co_argcount:
        return bool(code.co_flags & 0x04)  # *args: it may
    name = code.co_varnames[0]
    return any(name in _loaded(instruction) for instruction in dis.get_instructions(code))


def _loaded(instruction: dis.Instruction) -> Iterator[str]:
    if instruction.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
        value = instruction.argval
        yield from (value if isinstance(value, tuple) else (str(value),))
