"""Where a file uses names or arguments of libraries that are gone, or will be, in the version that is installed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.lint.engine.program import Program
from netmend.lint.engine.values import Instance, Name, resolved
from netmend.lint.knowledge import other_symbols, torch_symbols
from netmend.lint.knowledge.symbol import Argument, Symbol
from netmend.lint.knowledge.versions import reached

_SYMBOLS = {symbol.name: symbol for symbol in (*torch_symbols.SYMBOLS, *other_symbols.SYMBOLS)}
_ARGUMENTS = (*torch_symbols.ARGUMENTS, *other_symbols.ARGUMENTS)
_METHODS = {symbol.short: symbol for symbol in other_symbols.METHODS}
_TENSOR_METHODS = {symbol.short: symbol for symbol in torch_symbols.SYMBOLS if symbol.method}
# A test that tells versions apart: what stands under it is meant for another version.
_CHOICE = re.compile(r"hasattr|version|greater|less|compat|legacy|TORCH|_ge_|_lt_|IS_|HAS_|_AVAILABLE", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True)
class Use:
    """One place where something is used that goes away."""

    node: ast.AST
    entry: Symbol | Argument
    name: str  # as a person would write it

    @property
    def is_removed(self) -> bool:
        return reached(self.entry.package, self.entry.removed) and not self._is_back

    @property
    def is_deprecated(self) -> bool:
        deprecated = reached(self.entry.package, self.entry.deprecated)
        return deprecated and not self.is_removed and not self._is_back

    @property
    def _is_back(self) -> bool:
        return isinstance(self.entry, Symbol) and reached(self.entry.package, self.entry.back)


def uses(program: Program) -> Iterator[Use]:
    """Every use of a listed name, argument or method that no test of the version stands around."""
    old_keras = "tf_keras" in program.text or "keras.src" in program.text  # Keras 2 as a package; the inside of Keras
    imported = list(_imports(program))
    told = {use.name for use in imported}
    for use in (*imported, *_names(program), *_arguments(program), *_methods(program)):
        if use.entry.package == "keras" and old_keras:
            continue
        if isinstance(use.node, ast.Name) and use.name in told:
            continue  # told at the import
        if not is_chosen_by_version(program, use.node):
            yield use


def _names(program: Program) -> Iterator[Use]:
    for node, qualified in program.references:
        name = qualified
        while name:
            symbol = _SYMBOLS.get(name)
            if symbol is not None and isinstance(node, ast.Attribute | ast.Name):
                yield Use(node, symbol, symbol.name)
                break
            name = name.rpartition(".")[0]


def _imports(program: Program) -> Iterator[Use]:
    """`from torch import lstsq` fails by itself, used or not."""
    waiting: list[ast.stmt] = list(program.tree.body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            for alias in statement.names:
                module = re.sub(r"^(tensorflow|tensorflow\.python)\.keras", "keras", statement.module)
                for name in (f"{module}.{alias.name}", module):
                    symbol = _SYMBOLS.get(name)
                    if symbol is not None:
                        yield Use(statement, symbol, symbol.name)
                        break
        elif isinstance(statement, ast.If):
            waiting.extend((*statement.body, *statement.orelse))


def _arguments(program: Program) -> Iterator[Use]:
    functions = {id(node): qualified for node, qualified in program.references}
    for node, qualified in program.references:
        call = program.parent(node)
        if not isinstance(call, ast.Call) or call.func is not node or not call.keywords:
            continue
        for argument in _ARGUMENTS:
            if argument.belongs_to(functions[id(node)]):
                for keyword in call.keywords:
                    if keyword.arg == argument.keyword and not _is_none(keyword.value):
                        short = qualified.rpartition(".")[2]
                        yield Use(keyword, argument, f"{argument.keyword}= of {short}")


def _methods(program: Program) -> Iterator[Use]:
    if not any(f".{name}(" in program.text for name in (*_METHODS, *_TENSOR_METHODS)):
        return
    for event in program.methods_of(*_METHODS):
        receiver = event.call.receiver if event.call is not None else None
        made = resolved(receiver) if receiver is not None else None
        if getattr(made, "qualified", "") in ("keras.Sequential", "keras.Model", "keras.models.Sequential", "keras.models.Model"):  # fmt: skip
            symbol = _METHODS[getattr(event.value, "method", "")]
            yield Use(event.node, symbol, symbol.short)
    for event in program.methods_of(*_TENSOR_METHODS):
        receiver = event.call.receiver if event.call is not None else None
        if receiver is not None and not isinstance(resolved(receiver), Instance | Name):
            symbol = _TENSOR_METHODS[getattr(event.value, "method", "")]
            yield Use(event.node, symbol, f"Tensor.{symbol.short}")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_chosen_by_version(program: Program, node: ast.AST) -> bool:
    """Stands the node in a `try` with handlers, or under a test that tells versions apart?"""
    inner = node
    for above in program.above(node):
        if isinstance(above, ast.Try) and above.handlers and inner not in above.finalbody:
            return True
        if isinstance(above, ast.If | ast.IfExp) and _CHOICE.search(program.source(above.test)):
            return True
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) and _left_by_version(
            program, above.body, inner
        ):
            return True
        inner = above
    return False


def _left_by_version(program: Program, body: list[ast.stmt], until: ast.AST) -> bool:
    """`if version >= …: return new()` before it."""
    for statement in body:
        if statement is until:
            return False
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return | ast.Raise):
            if _CHOICE.search(program.source(statement.test)):
                return True
    return False
