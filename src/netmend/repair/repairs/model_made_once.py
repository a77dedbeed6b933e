"""R116."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.lines import experiment_loop
from netmend.localise.source import Function, last_name
from netmend.repair.loop.loop_code import Loop, assigned_names, block_of, loops_around, names_in, targets_of
from netmend.repair.repair import Case, Example, change, register
from netmend.repair.source.code import File
from netmend.repair.source.moving import taken_out, text_of
from netmend.repair.source.writing import add_argument, insert_before
from netmend.syntax.positions import lines_of
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import FREE, Change, FileEdits

_HEAD = """
import torch
from torch import nn
"""
_STEP = """        optimizer.zero_grad()
        model(torch.ones(4, 2)).mean().backward()
        optimizer.step()
"""


@register
@dataclass(frozen=True)
class ModelMadeOnce:
    """Create the model and its optimiser once, before the loop.

    Every new model forgets what the one before had learned, and a new optimiser its momentum. What the model needs is moved out
    of the loop with it; where there is one before the loop already, the later ones are left out.
    """

    code: ClassVar[str] = "R116"
    cures: ClassVar[tuple[str, ...]] = ("ARC-INIT-MULTI",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        fault = case.fault
        for site in () if fault is None else (fault.site, *fault.related[:1]):
            found = case.code.statement_at(site)
            if found is None or not isinstance(found[1], ast.Assign):
                continue
            file, statement = found
            assert isinstance(statement, ast.Assign)
            function = file.function(statement)
            if function is not None and function.name in ("forward", "__init__"):
                continue
            loops = [loop for loop in loops_around(file, statement) if not _repeats_experiment(loop)]
            edits = (
                self._out_of(case, file, statement, loops[-1])
                if loops
                else self._handed_in(case, file, statement)
            )
            if edits:
                yield from change(
                    self, case, "create the model once, before the loop", edits, knob="model creation"
                )
                return

    def _out_of(self, case: Case, file: File, model: ast.Assign, loop: Loop) -> FileEdits:
        moved = self._moved(case, file, model)
        names = {name for statement in moved for name in assigned_names(statement)}
        before = [s for s in block_of(file, loop) if s.lineno < loop.lineno]
        if all(any(name in assigned_names(s) for s in before) for name in assigned_names(model)):
            return tuple(edit for statement in moved for edit in taken_out(file, statement))
        needed = {name for statement in moved for name in names_in(statement)} - names
        bound = assigned_names(loop) | (names_in(loop.target) if isinstance(loop, ast.For) else set())
        if needed & bound:
            return ()  # what it is made of changes from round to round
        text = "\n".join(text_of(file, statement) for statement in moved)
        taken = tuple(edit for statement in moved for edit in taken_out(file, statement))
        put = insert_before(file, loop, text)
        return (*put, *taken) if put and _keeps_body(loop, moved) else ()

    def _moved(self, case: Case, file: File, model: ast.stmt) -> list[ast.stmt]:
        """The model, what is done to it right away, and the optimiser and scheduler that are made for it."""
        made = [fact.created for fact in case.trace.optimizers]
        made += [fact.created for fact in case.trace.all(SchedulerFact)]
        lines = {(str(case.sources.path(site.file)), site.line) for site in made if site is not None}
        block = block_of(file, model)
        found: list[ast.stmt] = []
        names: set[str] = set()
        for statement in block:
            own = statement is model or (
                names & names_in(statement)
                and (
                    any(
                        (file.file, line) in lines
                        for line in range(statement.lineno, (statement.end_lineno or 0) + 1)
                    )
                    or (isinstance(statement, ast.Assign | ast.Expr) and _is_setting_up(statement, names))
                )
            )
            if own and not isinstance(statement, ast.For | ast.While | ast.With | ast.If):
                found.append(statement)
                names |= assigned_names(statement)
        return found

    def _handed_in(self, case: Case, file: File, model: ast.Assign) -> FileEdits:
        """Made in a function that is called in a loop: made before that loop and given to the function."""
        function = file.function(model)
        if function is None or model not in function.body:
            return ()
        calls = [(file, call) for call in file.calls(function.name)]
        loops = loops_around(file, calls[0][1]) if len(calls) == 1 else []
        if not loops or isinstance(file.parent(function), ast.ClassDef):
            return ()
        moved = self._moved(case, file, model)
        names = [name for statement in moved for name in _targets(statement)]
        own = assigned_names(function) | {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
        needed = {name for statement in moved for name in names_in(statement)} - set(names)
        around = file.function(calls[0][1])
        taken_names = _own_names(around or file.tree)
        given = {argument.arg: text for argument, text in _arguments(file, function, calls[0][1])}
        if needed & own - set(given) or any(name in taken_names for name in names):
            return ()
        if any(given[name] != name for name in needed & set(given)):
            return ()
        outer = loops[-1]
        bound = assigned_names(outer) | (names_in(outer.target) if isinstance(outer, ast.For) else set())
        if (
            needed & bound
            or not names
            or function.args.vararg
            or function.args.kwonlyargs
            or function.args.defaults
        ):
            return ()
        put = insert_before(file, outer, "\n".join(text_of(file, statement) for statement in moved))
        taken = tuple(edit for statement in moved for edit in taken_out(file, statement))
        listed = ", ".join(dict.fromkeys(names))
        return (
            *put,
            *taken,
            *_with_parameters(file, function, listed),
            *add_argument(file, calls[0][1], listed),
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "in the loop over epochs",
            before=_HEAD
            + """
for epoch in range(3):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(3):
"""
            + _STEP,
            old="""for epoch in range(3):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
""",
            new="""model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
""",
            mark="nn.Linear",
        ),
        Example(
            "made again, while the optimiser holds the first one",
            before=_HEAD
            + """
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    model = nn.Linear(2, 1)  # again
    for step in range(3):
"""
            + _STEP,
            old="    model = nn.Linear(2, 1)  # again\n",
            new="",
            mark="# again",
        ),
        Example(
            "in a function for one epoch",
            before=_HEAD
            + """
def train(x):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(3):
"""
            + _STEP
            + """
for epoch in range(3):
    train(torch.ones(4, 2))
""",
            old="""def train(x):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(3):
"""
            + _STEP
            + """
for epoch in range(3):
    train(torch.ones(4, 2))
""",
            new="""def train(x, model, optimizer):
    for step in range(3):
"""
            + _STEP
            + """
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    train(torch.ones(4, 2), model, optimizer)
""",
            mark="nn.Linear",
        ),
        Example(
            "another width in each round",
            before=_HEAD
            + """
for width in (2, 3, 4):
    model = nn.Sequential(nn.Linear(2, width), nn.Linear(width, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(3):
"""
            + _STEP,
            mark="nn.Sequential",
        ),
    )


def _repeats_experiment(loop: Loop) -> bool:
    return isinstance(loop, ast.For) and experiment_loop(loop)


def _keeps_body(loop: Loop, moved: list[ast.stmt]) -> bool:
    return any(statement not in moved for statement in loop.body)


def _is_setting_up(statement: ast.stmt, names: set[str]) -> bool:
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


def _own_names(scope: ast.AST) -> set[str]:
    """Names that a scope assigns to, without those of the functions in it."""
    inner = {
        id(part)
        for node in ast.walk(scope)
        if node is not scope and isinstance(node, Function | ast.ClassDef)
        for part in ast.walk(node)
    }
    return {
        name
        for node in ast.walk(scope)
        if isinstance(node, ast.stmt) and id(node) not in inner
        for name in _targets(node)
    }


def _targets(statement: ast.stmt) -> list[str]:
    return [target.id for target in targets_of(statement) if isinstance(target, ast.Name)]


def _arguments(file: File, function: Function, call: ast.Call) -> Iterator[tuple[ast.arg, str]]:
    for argument, given in zip(function.args.args, call.args, strict=False):
        yield argument, file.source(given)
    for keyword in call.keywords:
        for argument in function.args.args:
            if argument.arg == keyword.arg:
                yield argument, file.source(keyword.value)


def _with_parameters(file: File, function: Function, text: str) -> FileEdits:
    lines = lines_of(file.text)
    if function.args.args:
        place = file.place(function.args.args[-1])
        end = lines.offset(place.end_line, place.end_column)
        return () if end is None else file.edits(lines.edit(end, end, f", {text}"))
    place = file.place(function)
    start = lines.offset(place.line, place.column) or 0
    end = file.text.find("()", start)
    return () if end < 0 else file.edits(lines.edit(end + 1, end + 1, text))
