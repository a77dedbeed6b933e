"""What is made again and again: where, and whether it may be made once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Loop, loops_around, targets_of
from netmend.localise.lines.blocks import experiment_loop
from netmend.program.source.moving import taken_out
from netmend.program.source.writing import insert_after
from netmend.program.text.file import File
from netmend.program.text.queries import Function, last_name, methods, own_nodes
from netmend.vocabulary import Site
from netmend.vocabulary.change import FileEdits


def repeats_experiment(loop: Loop) -> bool:
    return isinstance(loop, ast.For) and experiment_loop(loop)


def keeps_body(loop: Loop, moved: list[ast.stmt]) -> bool:
    return any(statement not in moved for statement in loop.body)


def is_setting_up(statement: ast.stmt, names: set[str]) -> bool:
    """`model = model.to(device)`, `model.apply(init)`, `model.load_state_dict(…)`."""
    call = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id in names
        and func.attr in ("to", "cuda", "cpu", "apply", "load_state_dict", "double", "float", "half")
    ) or (
        isinstance(call, ast.Call)
        and last_name(call.func) in ("compile", "DataParallel", "DistributedDataParallel")
    )


def names_of_scope(scope: ast.AST) -> set[str]:
    """Names that a scope assigns to, without those of the functions in it."""
    own = (
        node for node in own_nodes(scope) if node is scope or not isinstance(node, Function | ast.ClassDef)
    )
    return {name for node in own if isinstance(node, ast.stmt) for name in names_set(node)}


def names_set(statement: ast.stmt) -> list[str]:
    return [target.id for target in targets_of(statement) if isinstance(target, ast.Name)]


def arguments_of(function: Function, call: ast.Call) -> Iterator[tuple[ast.arg, ast.expr]]:
    """What the parameters of a function are: its defaults, or what it is given."""
    defaults = function.args.defaults
    yield from zip(function.args.args[len(function.args.args) - len(defaults) :], defaults, strict=True)
    yield from zip(function.args.args, call.args, strict=False)
    for keyword in call.keywords:
        for argument in function.args.args:
            if argument.arg == keyword.arg:
                yield argument, keyword.value


def with_values(text: str, values: Mapping[str, str]) -> str:
    """The text with what was given in the place of parameters; names of keyword arguments stay."""
    for name, value in values.items():
        if name != value:
            text = re.sub(rf"(?<![\w.]){name}(?!\w)(?!\s*=[^=])", lambda _, new=value: new, text)  # type: ignore[misc]
    return text


def made_often(case: Case) -> Iterator[Site]:
    """Where three or more models were made alike, or optimisers; nothing when each of them was trained for several epochs."""
    made = [model.created for model in case.trace.models]
    made += [optimizer.created for optimizer in case.trace.optimizers]
    sites = [site for site in made if site is not None]
    for site in dict.fromkeys(sites):
        found = case.code.statement_at(site) if sites.count(site) >= 3 else None
        around = None if found is None else loops_around(*found)
        scope = None if found is None else next(iter(around or ()), found[0].function(found[1]))
        if found is not None and scope is not None and _depth(scope) - bool(around) <= 1:
            yield site


def _depth(node: ast.AST) -> int:
    """How many loops lie within each other."""
    own = isinstance(node, ast.For | ast.While)
    return own + max((_depth(child) for child in ast.iter_child_nodes(node)), default=0)


def set_up_once(file: File, function: Function | None) -> FileEdits:
    """`self.setup()` in a method that is called again and again: called at the end of `__init__` instead."""
    owner = None if function is None else file.parent(function)
    if function is None or not isinstance(owner, ast.ClassDef) or len(function.args.args) != 1:
        return ()
    start = methods(owner).get("__init__")
    calls = [call for call in file.calls(function.name) if isinstance(call.func, ast.Attribute)]
    inside = [call for call in calls if file.owner(call) is owner and file.function(call) is not start]
    if start is None or not start.args.args or len(inside) != 1 or _is_conditional(file, inside[0]):
        return ()
    statement = file.statement(inside[0])
    if not isinstance(statement, ast.Expr) or statement.value is not inside[0] or inside[0].args:
        return ()
    made = taken_out(file, statement)
    if any(file.function(call) is start for call in calls):
        return made
    return (*made, *insert_after(file, start.body[-1], f"{start.args.args[0].arg}.{function.name}()"))


def _is_conditional(file: File, call: ast.Call) -> bool:
    """Whether a call stands under a condition: it may be meant to happen sometimes only."""
    return any(isinstance(above, ast.If | ast.Try) for above in file.parents(call))


def with_parameters(file: File, function: Function, text: str) -> FileEdits:
    if function.args.args:
        end = file.span(function.args.args[-1])[1]
        return file.edit(end, end, f", {text}")
    end = file.text.find("()", file.span(function)[0])
    return () if end < 0 else file.edit(end + 1, end + 1, text)
