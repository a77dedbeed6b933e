"""What gives a name its value, and what a call gives for a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.text.file import File
from netmend.program.text.queries import Function, arguments_of, holds, own_nodes, results_of

EACH = "*"  # in a path: one element of what is iterated over


@dataclass(frozen=True)
class Binding:
    """`value` is what the name is taken from; `path` says which part of it: an index, or "*" for each of its elements."""

    name: str
    value: ast.expr
    path: tuple[object, ...]
    statement: ast.stmt


def binding_of(file: File, name: ast.Name) -> Binding | None:
    """The last statement before a use that gives a name its value; None for parameters and names from elsewhere."""
    within = _comprehension(file, name)
    if within is not None:
        return within
    statement = file.statement(name)
    function = file.function(name)
    if statement is None:
        return None
    if function is not None:
        found = _last(function, name.id, statement)
        if found is not None:
            return found
        if name.id in arguments_of(function):
            return None
        return _last(file.tree, name.id, None)
    return _last(file.tree, name.id, statement)


def bindings_in(scope: ast.AST, name: str) -> list[Binding]:
    """All statements of a scope that give a name a value, in their order."""
    found: list[Binding] = []
    for node in own_nodes(scope):
        if isinstance(node, ast.stmt):
            found.extend(binding for binding in _made_by(node) if binding.name == name)
    return sorted(found, key=lambda binding: (binding.statement.lineno, binding.statement.col_offset))


def _last(scope: ast.AST, name: str, use: ast.stmt | None) -> Binding | None:
    """The nearest above the use; a loop counts where the use is inside it or behind it."""
    before = [
        binding
        for binding in bindings_in(scope, name)
        if use is None or binding.statement.lineno < use.lineno or _is_header(binding.statement, use)
    ]
    return before[-1] if before else None


def _is_header(loop: ast.stmt, use: ast.stmt) -> bool:
    return isinstance(loop, ast.For | ast.AsyncFor) and loop is not use and holds(loop, use)


def _made_by(statement: ast.stmt) -> Iterator[Binding]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _unpacked(target, statement.value, (), statement)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield from _unpacked(statement.target, statement.value, (), statement)
    elif isinstance(statement, ast.For | ast.AsyncFor):
        yield from _unpacked(statement.target, statement.iter, (EACH,), statement)


def _unpacked(
    target: ast.expr, value: ast.expr, path: tuple[object, ...], statement: ast.stmt
) -> Iterator[Binding]:
    if isinstance(target, ast.Name):
        yield Binding(target.id, value, path, statement)
    elif isinstance(target, ast.Tuple | ast.List):
        literal = isinstance(value, ast.Tuple | ast.List) and not path
        for index, part in enumerate(target.elts):
            if literal and isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                yield from _unpacked(part, value.elts[index], (), statement)
            else:
                yield from _unpacked(part, value, (*path, index), statement)


def _comprehension(file: File, name: ast.Name) -> Binding | None:
    for above in file.parents(name):
        if isinstance(above, ast.stmt):
            return None
        if isinstance(above, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            statement = file.statement(above)
            for generator in above.generators:
                if statement is None or holds(generator.iter, name):
                    continue
                for binding in _unpacked(generator.target, generator.iter, (EACH,), statement):
                    if binding.name == name.id:
                        return binding
    return None


def given_for(function: Function, call: ast.Call, name: str) -> tuple[ast.expr, tuple[object, ...]] | None:
    """What a call gives for a parameter, else its default; with an index where it comes out of `*values`."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value, ()
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    positional = positional[positional[:1] in (["self"], ["cls"]) :]
    if name in positional:
        index = positional.index(name)
        for place, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred):
                # How many values it stands for is not known: those behind it are taken to be its own.
                return argument.value, (index - place,)
            if place == index:
                return argument, ()
    return None


def results(function: Function) -> list[ast.expr]:
    """What a function returns or yields; the last one first."""
    found = sorted(results_of(function), key=lambda node: (node.lineno, node.col_offset), reverse=True)
    return [node.value for node in found if node.value is not None]


def is_generator(function: Function) -> bool:
    return any(isinstance(node, ast.Yield) for node in own_nodes(function))
