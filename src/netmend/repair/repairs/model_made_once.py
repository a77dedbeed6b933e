"""R116."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.lines import experiment_loop
from netmend.localise.source import Function, last_name
from netmend.repair.loop.loop_code import Loop, assigned_names, block_of, loops_around, names_in, targets_of
from netmend.repair.repair import Case, Example, change, register
from netmend.repair.source.code import File
from netmend.repair.source.moving import taken_out, text_of
from netmend.repair.source.writing import (
    add_argument,
    add_argument_first,
    insert_after,
    insert_before,
    replace,
)
from netmend.syntax.positions import lines_of
from netmend.vocabulary import SchedulerFact, Site
from netmend.vocabulary.change import BUDGET, FREE, Change, FileEdits

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
    explores: ClassVar[bool] = True

    def propose(self, case: Case) -> Iterator[Change]:
        fault = case.fault
        for site in _made_often(case) if fault is None else (fault.site, *fault.related[:1]):
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
                else self._handed_in(case, file, statement) or _set_up_once(file, function)
            )
            if edits:
                made = [optimizer.created for optimizer in case.trace.optimizers]
                what = "optimiser" if site in made else "model"
                # Untold, it may be meant: folds of a cross-validation each have a model of their own.
                effort = self.effort if fault is not None else BUDGET
                title = f"create the {what} once, before the loop"
                yield from change(self, case, title, edits, knob="model creation", effort=effort)
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
        loops = [loop for loop in loops if not _repeats_experiment(loop)]
        if not loops or isinstance(file.parent(function), ast.ClassDef):
            return ()
        moved = self._moved(case, file, model)
        names = [name for statement in moved for name in _targets(statement)]
        own = assigned_names(function) | {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
        needed = {name for statement in moved for name in names_in(statement)} - set(names)
        around = file.function(calls[0][1])
        taken_names = _own_names(around or file.tree)
        given = {argument.arg: value for argument, value in _arguments(function, calls[0][1])}
        outer = loops[-1]
        again = any(name in taken_names - assigned_names(outer) for name in names)
        if needed & own - set(given) or again:
            return ()
        values = {name: given[name] for name in needed & set(given)}
        bound = assigned_names(outer) | (names_in(outer.target) if isinstance(outer, ast.For) else set())
        from_outside = {name for value in values.values() for name in names_in(value)}
        if (
            ((needed - set(values)) | from_outside) & bound
            or not names
            or function.args.vararg
            or function.args.kwonlyargs
        ):
            return ()
        texts = {name: file.source(value) for name, value in values.items()}
        lines = [_with_values(text_of(file, statement), texts) for statement in moved]
        put = insert_before(file, outer, "\n".join(lines))
        taken = tuple(edit for statement in moved for edit in taken_out(file, statement))
        listed = ", ".join(dict.fromkeys(names))
        if function.args.defaults and function.args.args:
            first = function.args.args[0]
            before = replace(file, first, f"{listed}, {file.source(first)}")
            return (*put, *taken, *before, *add_argument_first(file, calls[0][1], listed))
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
        Example(
            "an optimiser made in a function that takes one step",
            before=_HEAD
            + """
def update(model, x, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()

net = model = nn.Linear(2, 1)
for step in range(4):
    update(model, torch.ones(4, 2), 0.01)
""",
            old="""def update(model, x, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()

net = model = nn.Linear(2, 1)
for step in range(4):
    update(model, torch.ones(4, 2), 0.01)
""",
            new="""def update(model, x, lr, optimizer):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()

net = model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(4):
    update(model, torch.ones(4, 2), 0.01, optimizer)
""",
            mark="optimizer = ",
        ),
        Example(
            "a method that sets up, called for every epoch",
            before=_HEAD
            + """
class Runner:
    def __init__(self):
        self.lr = 0.01
    def setup(self):
        self.model = nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr)
    def epoch(self):
        self.setup()
        for step in range(3):
            self.optimizer.zero_grad()
            self.model(torch.ones(4, 2)).mean().backward()
            self.optimizer.step()

runner = Runner()
for epoch in range(3):
    runner.epoch()
""",
            old="""        self.lr = 0.01
    def setup(self):
        self.model = nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr)
    def epoch(self):
        self.setup()
""",
            new="""        self.lr = 0.01
        self.setup()
    def setup(self):
        self.model = nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr)
    def epoch(self):
""",
            mark="self.model = ",
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


def _arguments(function: Function, call: ast.Call) -> Iterator[tuple[ast.arg, ast.expr]]:
    """What the parameters of a function are: its defaults, or what it is given."""
    defaults = function.args.defaults
    yield from zip(function.args.args[len(function.args.args) - len(defaults) :], defaults, strict=True)
    yield from zip(function.args.args, call.args, strict=False)
    for keyword in call.keywords:
        for argument in function.args.args:
            if argument.arg == keyword.arg:
                yield argument, keyword.value


def _with_values(text: str, values: Mapping[str, str]) -> str:
    """The text with what was given in the place of parameters; names of keyword arguments stay."""
    for name, value in values.items():
        if name != value:
            text = re.sub(rf"(?<![\w.]){name}(?!\w)(?!\s*=[^=])", lambda _, new=value: new, text)  # type: ignore[misc]
    return text


def _made_often(case: Case) -> Iterator[Site]:
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


def _set_up_once(file: File, function: Function | None) -> FileEdits:
    """`self.setup()` in a method that is called again and again: called at the end of `__init__` instead."""
    owner = None if function is None else file.parent(function)
    if function is None or not isinstance(owner, ast.ClassDef) or len(function.args.args) != 1:
        return ()
    start = next((s for s in owner.body if isinstance(s, Function) and s.name == "__init__"), None)
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
