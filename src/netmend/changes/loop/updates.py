"""What an optimiser is given, and updates that are written by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import callers
from netmend.program.source.bindings import bindings_in, given_for
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import add_argument, insert_argument_after, replace
from netmend.program.text.file import File
from netmend.program.text.queries import arguments_of, inside, last_name
from netmend.program.text.sources import Code
from netmend.vocabulary import OptimizerFact, Site
from netmend.vocabulary.change import FileEdits

_MOST_HOPS = 4


def given_parameters(code: Code, created: Site | None) -> tuple[File, ast.expr] | None:
    """The parameters that an optimiser is made with, followed to where they are put together."""
    found = code.call_at(created)
    value = None if found is None else code.sources.argument(found[1], "params", 0)
    if found is None or value is None:
        return None
    file = found[0]
    for _ in range(_MOST_HOPS):
        if not isinstance(value, ast.Name):
            break
        further = _further(code, file, value)
        if further is None:
            return None  # a name whose value is not known cannot be changed here
        file, value = further
    return file, value


def exchanged_optimizer(
    case: Case,
    optimizer: OptimizerFact,
    kind: str,
    rate: str = "",
    default: str = "",
    kept: Iterable[str] = (),
    more: str = "",
) -> FileEdits:
    """An optimiser of torch.optim of another kind, with the same parameters; with another rate, or the same one where it
    was given, and with what both kinds know of the other settings; `more` is written behind the rate."""
    found = case.code.call_at(optimizer.created)
    if found is None or not qualified(found[0], found[1].func).startswith("torch.optim."):
        return ()
    file, call = found
    given = {keyword.arg: file.source(keyword.value) for keyword in call.keywords}
    if None in given or any(isinstance(value, ast.Starred) for value in call.args):
        return ()  # `**settings` may hold anything
    given |= dict(zip(("params", "lr"), map(file.source, call.args), strict=False))
    rate = rate or given.get("lr", default)
    texts = [given.get("params", ""), *([f"lr={rate}"] if rate else []), *([more] if more else [])]
    texts += [f"{name}={given[name]}" for name in kept if name in given]
    name, extra = spelled(file, f"torch.optim.{kind}", like=call.func)
    return (*replace(file, call, f"{name}({', '.join(texts)})"), *extra) if texts[0] else ()


def _further(code: Code, file: File, name: ast.Name) -> tuple[File, ast.expr] | None:
    function = file.function(name)
    made = bindings_in(function or file.tree, name.id)
    if not made and function is not None and name.id in arguments_of(function):
        calls = list(callers(code, file, name))
        given = given_for(function, calls[0].call, name.id) if len(calls) == 1 else None
        return None if given is None or given[1] else (calls[0].file, given[0])
    made = made or bindings_in(file.tree, name.id)
    return (file, made[-1].value) if len(made) == 1 and not made[0].path else None


def are_groups(value: ast.expr) -> bool:
    """`[{"params": …}, …]`"""
    return isinstance(value, ast.List | ast.Tuple) and any(isinstance(part, ast.Dict) for part in value.elts)


def joined(file: File, value: ast.expr, more: list[str]) -> FileEdits:
    """Let the optimiser train further parameters too; `more` are expressions such as `encoder.parameters()`."""
    if isinstance(value, ast.List) and value.elts:
        texts = [f'{{"params": {text}}}' if are_groups(value) else f"*{text}" for text in more]
        return insert_argument_after(file, value.elts[-1], ", ".join(texts))
    if isinstance(value, ast.Call) and last_name(value.func) == "chain" and value.args:
        return add_argument(file, value, ", ".join(more))
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return replace(file, value, " + ".join((file.source(value), *(f"list({text})" for text in more))))
    parts = ", ".join(f"*{text}" for text in (*more, file.source(value)))
    return replace(file, value, f"[{parts}]")


@dataclass(frozen=True, eq=False)
class Update:
    """The last statement of a block that uses a weight's gradient to change it."""

    file: File
    statement: ast.stmt
    weight: str


def updates(code: Code, near: File) -> Iterator[Update]:
    """Statements that change something in place by means of its gradient."""
    for file in code.files(near.file):
        last: dict[tuple[int, str], Update] = {}
        for node in inside(file.tree, ast.stmt):
            if not isinstance(node, ast.AugAssign | ast.Assign | ast.Expr):
                continue
            changed = _changed(node)
            for part in inside(node if changed is not None else None, ast.Attribute):
                if part.attr == "grad" and changed is not None:
                    weight = file.source(part.value)
                    if _bare(file, changed) == weight:
                        last[id(file.parent(node)), weight] = Update(file, node, weight)
        yield from last.values()


def _changed(node: ast.stmt) -> ast.expr | None:
    """What a statement changes in place."""
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        return node.targets[0] if node.targets[0].attr == "data" else None
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
        return call.func.value if call.func.attr not in ("zero_",) else None
    return None


def _bare(file: File, node: ast.expr) -> str:
    """`p` of `p.data` and `p`."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return file.source(node)
