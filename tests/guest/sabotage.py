"""Breaks netmend's own functions on purpose, so that tests can see who notices."""

from __future__ import annotations

import dis
import functools
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

# What catches cannot itself be caught, and what checks the caller's arguments is meant to raise.
SPARED = ("netmend.adapters.torch.guard", "netmend.observe.options")
FAMILIES = ("netmend.adapters.torch", "netmend.observe", "netmend.store")


class Sabotage(RuntimeError):
    """Raised by broken functions; no user should ever meet it."""


def breakable_modules() -> list[str]:
    """Names of the modules that work while a program trains."""
    names = ["netmend.adapters.start"]
    for family in FAMILIES:
        package = importlib.import_module(family)
        found = pkgutil.walk_packages(package.__path__, family + ".")
        names += [
            info.name
            for info in found
            if not info.ispkg and ".device." not in info.name and info.name not in SPARED
        ]
    return names


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """Functions and methods written in a module."""
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield value
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            for member in vars(value).values():
                function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
                if isinstance(function, FunctionType) and not function.__name__.startswith("__"):
                    yield function


def can_fail(function: FunctionType) -> bool:
    """A function that calls nothing, such as one that reads a flag, has no way to fail."""
    return any(instruction.opname.startswith("CALL") for instruction in dis.get_instructions(function))


def broken(function: Callable[..., Any], after: int, hits: list[str]) -> Callable[..., Any]:
    """The function, failing from call number `after` on; `hits` learns of every failure."""
    calls = 0

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        # Only calls from our own code fail: the function that torch or the user calls may carry its guard inside.
        if calls > after and sys._getframe(1).f_globals.get("__name__", "").startswith("netmend"):
            hits.append(function.__qualname__)
            raise Sabotage(function.__qualname__)
        return function(*args, **kwargs)

    return wrapper


def break_module(name: str, after: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Break all functions of a module wherever netmend has bound them; returns the growing list of failures."""
    hits: list[str] = []
    wrappers = {
        function: broken(function, after, hits) for function in functions_of(importlib.import_module(name))
    }
    for module in [module for key, module in sys.modules.items() if key.split(".")[0] == "netmend"]:
        for key, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value in wrappers:
                monkeypatch.setattr(module, key, wrappers[value])
            elif inspect.isclass(value) and value.__module__ == name:
                break_class(value, wrappers, monkeypatch)
    return hits


def break_class(
    owner: type[Any], wrappers: dict[FunctionType, Callable[..., Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, member in list(vars(owner).items()):
        function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
        if isinstance(function, FunctionType) and function in wrappers:
            again = (
                type(member) if isinstance(member, (staticmethod, classmethod)) else (lambda wrapper: wrapper)
            )
            monkeypatch.setattr(owner, key, again(wrappers[function]))
