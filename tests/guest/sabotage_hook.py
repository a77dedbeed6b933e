"""Copied into a `sitecustomize` by a test: breaks a module of netmend right after it has been imported."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any


def breaking(function: FunctionType) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        Path(__file__).with_name("broken").touch()
        raise RuntimeError(f"sabotage in {function.__qualname__}")

    return wrapper


def break_functions(module: ModuleType) -> None:
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value.__module__.startswith(module.__name__):
            setattr(module, name, breaking(value))
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            for key, member in list(vars(value).items()):
                if isinstance(member, FunctionType) and not key.startswith("__"):
                    setattr(value, key, breaking(member))


class Saboteur(importlib.abc.MetaPathFinder):
    """Finds one module as usual, and breaks it when it is executed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_break(module: ModuleType) -> None:
                execute(module)
                break_functions(module)

            spec.loader.exec_module = execute_and_break  # type: ignore[method-assign]
        return spec


def install(name: str) -> None:
    sys.meta_path.insert(0, Saboteur(name))
