"""What the user's code does, read without executing it: names that it mentions, and whether it can be run again unnoticed."""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from netmend.adapters.torch.watch.undisturbed import Kept

if TYPE_CHECKING:
    from netmend.observe.sites import Sites


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


# Quiet: whether the code of a forward pass can be run once more without anybody noticing.
#
# Modules and what they hold can be put back (undisturbed.py). Code that assigns to globals, opens files or talks to a logger cannot
# be made undone; nor can hooks of the user's, which collect outputs somewhere. Such models are not run again.

_NOISY = ("open", "input", "exec", "eval", "breakpoint", "exit", "quit")
_NOISY_PACKAGES = (
    "wandb",
    "mlflow",
    "neptune",
    "comet_ml",
    "subprocess",
    "socket",
    "requests",
    "multiprocessing",
)
_WRAPPERS = ("DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "OptimizedModule")
_METHODS = ("__init__", "__call__", "forward", "backward", "setup_context")
_MOST_FUNCTIONS = 500
_GLOBAL_HOOKS = (
    (torch.nn.modules.module, "_global_forward_hooks"),
    (torch.nn.modules.module, "_global_forward_pre_hooks"),
    (torch.nn.modules.module, "_global_backward_hooks"),
    (torch.nn.modules.module, "_global_backward_pre_hooks"),
    (sys.modules["torch.optim.optimizer"], "_global_optimizer_pre_hooks"),
    (sys.modules["torch.optim.optimizer"], "_global_optimizer_post_hooks"),
)
Variable = tuple[dict[str, Any], str]


class Quiet:
    """The code that a model's forward pass reaches: what it reads from outside, and whether it only reads."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._met: set[int] = set()
        self.quiet = True
        self.variables: dict[tuple[int, str], Variable] = {}
        self.cells: list[types.CellType] = []  # variables of enclosing functions
        self.values: list[Any] = []  # attributes and default values of functions
        self.classes: set[type] = set()
        self._others: set[type] = set()  # classes without a line of the user's

    def read(self, module: nn.Module) -> bool:
        if any(map(self._written_by_user, _global_hooks())):
            return False
        for child in module.modules():
            if isinstance(child, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
                return False  # counts its own runs to decide when to optimise itself
            if type(child).__name__ in _WRAPPERS or any(map(self._written_by_user, _hooks(child))):
                return False
            if isinstance(child, torch.nn.modules.lazy.LazyModuleMixin) and child.has_uninitialized_params():
                return False
            self._consider(vars(child).get("forward", type(child).forward), type(child))
            self._class(type(child))
            for value in vars(child).values():
                if not isinstance(value, (nn.Module, torch.Tensor)) and not self._consider(value):
                    self._class(type(value), whole=True)
        return self.quiet

    def read_function(self, kind: type) -> bool:
        """The same for a custom autograd.Function."""
        self._consider(kind)
        return self.quiet

    def keep(self, kept: Kept) -> None:
        """Let the values that the code reads from outside be put back, too."""
        for namespace, name in self.variables.values():
            if name in namespace:
                kept.name(namespace, name)
        for cell in self.cells:
            kept.cell(cell)
        for value in self.values:
            kept.value(value)
        for kind in self.classes:
            kept.attributes(kind)

    def _written_by_user(self, hook: Callable[..., Any]) -> bool:
        while hasattr(hook, "func"):
            hook = hook.func
        code = getattr(hook, "__code__", None) or getattr(type(hook).__call__, "__code__", None)
        return code is None or self._sites.is_user_file(code.co_filename)

    def _consider(self, value: Any, owner: type | None = None) -> bool:
        """Follow code; True when the value is nothing but code."""
        value = getattr(value, "__wrapped__", value)
        if isinstance(value, types.MethodType) and isinstance(value.__self__, type):
            value = value.__self__  # `apply = Function.apply`
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        if isinstance(value, types.FunctionType):
            self._function(value, owner)
        elif isinstance(value, types.ModuleType):
            self.quiet = self.quiet and value.__name__.split(".")[0] not in _NOISY_PACKAGES
        elif isinstance(value, type):
            for name in _METHODS:
                if name in vars(value):
                    self._consider(vars(value)[name], value)
            self._class(value)
        else:
            return isinstance(value, types.BuiltinFunctionType)
        return True

    def _function(self, function: types.FunctionType, owner: type | None) -> None:
        if id(function) in self._met or not self._is_users(function):
            return
        self._met.add(id(function))
        if len(self._met) > _MOST_FUNCTIONS:
            self.quiet = False
            return
        names: set[str] = set()
        for instruction, code in _instructions(function.__code__):
            kind, name = instruction.opname, str(instruction.argval)
            if kind in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
                kind in ("STORE_DEREF", "DELETE_DEREF")
                and name in code.co_freevars
                and name in function.__code__.co_freevars
            ):
                self.quiet = False
            elif kind in ("LOAD_GLOBAL", "LOAD_NAME"):
                names.add(name)
            elif owner is not None and kind in ("LOAD_ATTR", "LOAD_METHOD"):
                self._consider(getattr(owner, name, None), owner)
        for name in names:
            self._global(function.__globals__, name)
        self.values += [vars(function), function.__defaults__, function.__kwdefaults__]
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not filled yet
                continue
            if not self._consider(content):
                self.cells.append(cell)

    def _class(self, kind: type, whole: bool = False) -> None:
        """A class of the user's whose instances take part; `whole`: any of its functions may be called."""
        for base in kind.__mro__:
            if base in self.classes or base in self._others:
                continue
            functions = [value for value in vars(base).values() if isinstance(value, types.FunctionType)]
            if not any(self._is_users(function) for function in functions):
                self._others.add(
                    base
                )  # most are layers of the framework, which hold a hundred functions each
                continue
            self.classes.add(base)
            for function in functions if whole else ():
                self._function(function, base)

    def _is_users(self, function: types.FunctionType) -> bool:
        return self._sites.is_user_file(function.__code__.co_filename)

    def _global(self, namespace: dict[str, Any], name: str) -> None:
        if name not in namespace:
            self.quiet = self.quiet and name not in _NOISY
        elif not self._consider(namespace[name]):
            self.variables[(id(namespace), name)] = (namespace, name)


def _instructions(code: types.CodeType) -> Iterator[tuple[dis.Instruction, types.CodeType]]:
    """Those of a function and of the functions written inside it."""
    for instruction in dis.get_instructions(code):
        yield instruction, code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _instructions(constant)


def _global_hooks() -> Iterator[Callable[..., Any]]:
    for place, name in _GLOBAL_HOOKS:
        yield from getattr(place, name, {}).values()


def _hooks(module: nn.Module) -> Iterator[Callable[..., Any]]:
    for name in ("_forward_hooks", "_forward_pre_hooks"):
        yield from vars(module).get(name, {}).values()
