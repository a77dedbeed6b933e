"""Where a file uses names or arguments of libraries that are gone, or will be, in the version that is installed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from netmend.library import domain_symbols, other_symbols, torch_symbols
from netmend.library.symbol import Argument, Symbol
from netmend.library.versions import reached
from netmend.program.engine.program import Program
from netmend.program.engine.values import Instance, Name, resolved
from netmend.program.meaning.number_types import is_tensor
from netmend.program.text.edits import replace
from netmend.program.text.identifiers import identifiers
from netmend.vocabulary.finding import Fix

_LISTS = (torch_symbols, domain_symbols, other_symbols)
_SYMBOLS = {symbol.name: symbol for listed in _LISTS for symbol in listed.SYMBOLS}
_ARGUMENTS = tuple(argument for listed in _LISTS for argument in listed.ARGUMENTS)
_METHODS = {symbol.short: symbol for symbol in other_symbols.METHODS}
_TENSOR_METHODS = {symbol.short: symbol for symbol in torch_symbols.SYMBOLS if symbol.method or symbol.tensor}
_METHOD_CALL = re.compile(rf"\.(?:{'|'.join((*_METHODS, *_TENSOR_METHODS))})\(")
# The new name takes the same arguments and gives the same result.
_SAME = {
    "torch.ger": "outer",
    "torch.nn.functional.sigmoid": "",
    "torch.nn.utils.clip_grad_norm": "clip_grad_norm_",
    "torch.cuda.memory_cached": "memory_reserved",
    "torch.cuda.max_memory_cached": "max_memory_reserved",
}
_TOLD_TOGETHER = ("torch.cuda.amp", "functorch", "torchtext.data", "torch.nn.init", "torch.cuda")
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
    def is_announced(self) -> bool:
        """Deprecated, and the documentation says that it will be removed."""
        return self.is_deprecated and self.entry.announced

    @property
    def _is_back(self) -> bool:
        return isinstance(self.entry, Symbol) and reached(self.entry.package, self.entry.back)


def uses(program: Program, wanted: Callable[[Use], bool]) -> Iterator[Use]:
    """Every use of a listed name, argument or method that is wanted and that no test of the version stands around.

    Each is told once per file.
    """
    # Keras 2 as a package; the inside of Keras
    old_keras = "tf_keras" in program.text or "keras.src" in program.text
    told: set[object] = set()
    found = (*_imports(program), *_names(program), *_arguments(program), *_methods(program))
    for use in sorted(
        found, key=lambda use: (getattr(use.node, "lineno", 0), getattr(use.node, "col_offset", 0))
    ):
        if not wanted(use) or (use.entry.package == "keras" and old_keras):
            continue
        if use.is_announced and not _is_acted_on(program, use.node):
            continue
        told_as = (use.node, _group(use.entry))
        if told.isdisjoint(told_as) and not is_chosen_by_version(program, use.node):
            told.update(told_as)
            yield use


def _group(entry: Symbol | Argument) -> object:
    """What is told once: a name, or a module of which several names are used."""
    if isinstance(entry, Symbol):
        module = entry.name.rpartition(".")[0]
        return module if module in _TOLD_TOGETHER else entry.name
    return (entry.owner, entry.keyword)


def may_use_removed(text: str) -> bool:
    """A quick look: is anything named at all that the installed versions do not have?"""
    needed, numpy = _removed_words()
    likely = (pieces for name in identifiers(text).intersection(needed) for pieces in needed[name])
    return any(all(piece in text for piece in pieces) for pieces in likely) or numpy.search(text) is not None


@cache
def _removed_words() -> tuple[dict[str, set[tuple[str, ...]]], re.Pattern[str]]:
    """For each name that is gone the pieces of text that a use of it needs; numpy's short names as one pattern."""
    entries = (*_SYMBOLS.values(), *_ARGUMENTS, *_METHODS.values())
    gone = [entry for entry in entries if Use(ast.Pass(), entry, "").is_removed]
    needed: dict[str, set[tuple[str, ...]]] = {}
    for entry in gone:
        if isinstance(entry, Argument):
            owner = entry.owner.rstrip(".").rpartition(".")[2]
            needed.setdefault(entry.keyword, set()).add((f"{entry.keyword}=", owner, entry.package))
        elif entry.package == "torch" and entry.name.count(".") == 1:
            needed.setdefault(entry.short, set()).update(((f".{entry.short}(",), (f"import {entry.short}",)))
        elif entry.package != "numpy":
            parent = entry.name.rpartition(".")[0]
            above = parent.rpartition(".")[2]
            pieces = ((f"{above}.{entry.short}", entry.package), (f"{parent} import", entry.short))
            needed.setdefault(entry.short, set()).update(pieces)
    numpy = sorted({entry.short for entry in gone if isinstance(entry, Symbol) and entry.package == "numpy"})
    return needed, re.compile(rf"(?:np|numpy)\.(?:{'|'.join(numpy) or '(?!)'})\b")


def in_package(program: Program) -> bool:
    """Is the file a part of a package, or of its tests? A package has to run with several versions of what it uses."""
    if program.is_test_code:
        return True
    for level in range(1, 5):  # a folder without __init__.py may lie in a package
        found = program.machine.project.find("", level, program.file)
        if found is not None and found.endswith("__init__.py"):
            return True
    return False


def _is_acted_on(program: Program, node: ast.AST) -> bool:
    """Called, imported or a decorator; tables and documentation may name what will go."""
    if not isinstance(node, ast.Attribute):
        return True
    above = program.parent(node)
    if isinstance(above, ast.FunctionDef):
        return node in above.decorator_list
    return isinstance(above, ast.Call) and above.func is node


def _names(program: Program) -> Iterator[Use]:
    for node, qualified in program.references:
        name = qualified
        while name:
            symbol = _SYMBOLS.get(name)
            if symbol is not None and isinstance(node, ast.Attribute):  # plain names are told at their import
                yield Use(node, symbol, symbol.name)
                break
            name = name.rpartition(".")[0]


def _imports(program: Program) -> Iterator[Use]:
    """`from torch import lstsq` fails by itself, used or not."""
    for statement in program.nodes:
        if not isinstance(statement, ast.ImportFrom) or not statement.module or statement.level:
            continue
        module = re.sub(r"^(tensorflow|tensorflow\.python)\.keras", "keras", statement.module)
        for alias in statement.names:
            symbol = _SYMBOLS.get(f"{module}.{alias.name}") or _SYMBOLS.get(module)
            if symbol is not None:
                yield Use(statement, symbol, symbol.name)


def _arguments(program: Program) -> Iterator[Use]:
    for node, qualified in program.references:
        listed = [argument for argument in _ARGUMENTS if argument.belongs_to(qualified)]
        call = program.parent(node) if listed else None
        if isinstance(call, ast.Subscript):  # models.__dict__[name](…)
            node, call = call, program.parent(call)
        if not isinstance(call, ast.Call) or call.func is not node:
            continue
        short = "a model" if qualified.endswith("__dict__") else qualified.rpartition(".")[2]
        for argument in listed:
            for keyword in call.keywords:
                if keyword.arg == argument.keyword and not _is_none(keyword.value):
                    yield Use(keyword, argument, f"{argument.keyword}= of {short}")
            if argument.position is not None and len(call.args) > argument.position:
                given = call.args[argument.position]
                if isinstance(given, ast.Constant) and isinstance(given.value, bool):
                    yield Use(given, argument, f"{argument.keyword} of {short}")


def _methods(program: Program) -> Iterator[Use]:
    if not _METHOD_CALL.search(program.text):
        return
    for event in program.methods_of(*_METHODS):
        receiver = event.call.receiver
        made = resolved(receiver)
        if getattr(made, "qualified", "") in ("keras.Sequential", "keras.Model", "keras.models.Sequential", "keras.models.Model"):  # fmt: skip
            symbol = _METHODS[getattr(event.value, "method", "")]
            yield Use(event.node, symbol, symbol.short)
    for event in program.methods_of(*_TENSOR_METHODS):
        receiver = event.call.receiver
        if receiver is not None and not isinstance(resolved(receiver), Instance | Name):
            symbol = _TENSOR_METHODS[getattr(event.value, "method", "")]
            if symbol.method or is_tensor(receiver):
                yield Use(event.node, symbol, f"Tensor.{symbol.short}")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_chosen_by_version(program: Program, node: ast.AST) -> bool:
    """Stands the node in a `try` with handlers, or under a test that tells versions apart?"""
    inner = node
    for above in program.above(node):
        if isinstance(above, ast.Try) and above.handlers and inner not in above.finalbody:
            return True
        if isinstance(above, ast.If | ast.IfExp) and _CHOICE.search(ast.unparse(above.test)):
            return True
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and _left_by_version(above.body, inner):
            return True
        inner = above
    return False


def _left_by_version(body: list[ast.stmt], until: ast.AST) -> bool:
    """`if version >= …: return new()` before it."""
    for statement in body:
        if statement is until:
            return False
        leaves = isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return | ast.Raise)
        if leaves and isinstance(statement, ast.If) and _CHOICE.search(ast.unparse(statement.test)):
            return True
    return False


def renamed(program: Program, use: Use) -> Fix | None:
    """The change where only the name differs."""
    new = _SAME.get(use.name, "")
    if not new or not isinstance(use.node, ast.Attribute):
        return None
    edits = replace(program, use.node, f"{program.source(use.node.value)}.{new}")
    return Fix(f"Use {new}", edits, "safe") if edits else None
