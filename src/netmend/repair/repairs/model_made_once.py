"""R116."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loop.creations import (
    arguments_of,
    is_setting_up,
    keeps_body,
    made_often,
    names_of_scope,
    names_set,
    repeats_experiment,
    set_up_once,
    with_parameters,
    with_values,
)
from netmend.changes.loop.loop_code import Loop, assigned_names, loops_around, names_in
from netmend.program.source.moving import taken_out, text_of
from netmend.program.source.writing import add_argument, add_argument_first, insert_before, replace
from netmend.program.text.file import File, block_of
from netmend.program.text.queries import inside
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import BUDGET, Change, FileEdits


class ModelMadeOnce(Repair, code="R116", cures=("ARC-INIT-MULTI",), explores=True):
    """Create the model and its optimiser once, before the loop.

    Every new model forgets what the one before had learned, and a new optimiser its momentum. What the model needs is moved out
    of the loop with it; where there is one before the loop already, the later ones are left out.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        fault = case.fault
        for site in made_often(case) if fault is None else (fault.site, *fault.related[:1]):
            found = case.code.statement_at(site)
            if found is None or not isinstance(found[1], ast.Assign):
                continue
            file, statement = found
            assert isinstance(statement, ast.Assign)
            function = file.function(statement)
            if function is not None and function.name in ("forward", "__init__"):
                continue
            loops = [loop for loop in loops_around(file, statement) if not repeats_experiment(loop)]
            edits = (
                self._out_of(case, file, statement, loops[-1])
                if loops
                else self._handed_in(case, file, statement) or set_up_once(file, function)
            )
            if edits:
                made = [optimizer.created for optimizer in case.trace.optimizers]
                what = "optimiser" if site in made else "model"
                # Untold, it may be meant: folds of a cross-validation each have a model of their own.
                effort = self.effort if fault is not None else BUDGET
                title = f"create the {what} once, before the loop"
                yield from self.change(case, title, edits, knob="model creation", effort=effort)
                return

    def _out_of(self, case: Case, file: File, model: ast.Assign, loop: Loop) -> FileEdits:
        moved = self._moved(case, file, model)
        moved = [*_sizes_for(file, moved, loop), *moved]
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
        return (*put, *taken) if put and keeps_body(loop, moved) else ()

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
                    or (isinstance(statement, ast.Assign | ast.Expr) and is_setting_up(statement, names))
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
        loops = [loop for loop in loops if not repeats_experiment(loop)]
        if not loops or isinstance(file.parent(function), ast.ClassDef):
            return ()
        moved = self._moved(case, file, model)
        names = [name for statement in moved for name in names_set(statement)]
        own = assigned_names(function) | {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
        needed = {name for statement in moved for name in names_in(statement)} - set(names)
        around = file.function(calls[0][1])
        taken_names = names_of_scope(around or file.tree)
        given = {argument.arg: value for argument, value in arguments_of(function, calls[0][1])}
        outer = loops[-1]
        again = any(name in taken_names - assigned_names(outer) for name in names)
        if needed & own - set(given) or again:
            return ()
        values = {name: given[name] for name in needed & set(given)}
        bound = assigned_names(outer) | (names_in(outer.target) if isinstance(outer, ast.For) else set())
        from_outside = {name for value in values.values() for name in names_in(value)}
        if ((needed - set(values)) | from_outside) & bound or not names or function.args.vararg:
            return ()
        if function.args.kwonlyargs:
            return ()
        texts = {name: file.source(value) for name, value in values.items()}
        lines = [with_values(text_of(file, statement), texts) for statement in moved]
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
            *with_parameters(file, function, listed),
            *add_argument(file, calls[0][1], listed),
        )

    EXAMPLES = {
        "in the loop over epochs": example(
            """
                import torch
                from torch import nn
                + model = nn.Linear(2, 1)
                + optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                for epoch in range(3):
                    - model = nn.Linear(2, 1)
                    - optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                    for step in range(3):
                        optimizer ← model(torch.ones(4, 2)).mean()""",
            mark="nn.Linear",
        ),
        "with a size that is set above it": example(
            """
                import torch
                from torch import nn
                + width = 2
                + model = nn.Linear(width, 1)
                + optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                for epoch in range(3):
                    - width = 2
                    - model = nn.Linear(width, 1)
                    - optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                    for step in range(3):
                        optimizer ← model(torch.ones(4, 2)).mean()""",
            mark="nn.Linear",
        ),
        "with a size that changes from round to round": example("""
                for epoch in range(3):
                    width = 2 + 0 * epoch
                    model = ⟨nn.Linear(width, 1)⟩
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                    for step in range(3):
                        optimizer ← model(torch.ones(4, 2)).mean()"""),
        "made again, while the optimiser holds the first one": example(
            optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
            loop="for epoch in range(3)",
            step="""
                - model = nn.Linear(2, 1)  # again
                for step in range(3):
                    optimizer ← model(torch.ones(4, 2)).mean()""",
        ),
        "in a function for one epoch": example(
            """
                - def train(x):
                    - model = nn.Linear(2, 1)
                    - optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                + def train(x, model, optimizer):
                    for step in range(3):
                        optimizer ← model(torch.ones(4, 2)).mean()
                + model = nn.Linear(2, 1)
                + optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                for epoch in range(3):
                    train⟨(torch.ones(4, 2)) → (torch.ones(4, 2), model, optimizer)⟩""",
            mark="nn.Linear",
        ),
        "another width in each round": example("""
                for width in (2, 3, 4):
                    model = ⟨nn.Sequential(nn.Linear(2, width), nn.Linear(width, 1))⟩
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                    for step in range(3):
                        optimizer ← model(torch.ones(4, 2)).mean()"""),
        "an optimiser made in a function that takes one step": example(
            """
                def update⟨(model, x, lr): → (model, x, lr, optimizer):⟩
                    - optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
                    optimizer ← model(x).mean()
                net = model = nn.Linear(2, 1)
                + optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
                for step in range(4):
                    update⟨(model, torch.ones(4, 2), 0.01) → (model, torch.ones(4, 2), 0.01, optimizer)⟩""",
            mark="optimizer = ",
        ),
        "a method that sets up, called for every epoch": example("""
                class Runner:
                    def __init__(self):
                        self.lr = 0.01
                        + self.setup()
                    def setup(self):
                        ⟨self.model = nn.Linear(2, 1)⟩
                        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr)
                    def epoch(self):
                        - self.setup()
                        for step in range(3):
                            self.optimizer ← self.model(torch.ones(4, 2)).mean()
                runner = Runner()
                for epoch in range(3):
                    runner.epoch()"""),
    }


def _sizes_for(file: File, moved: list[ast.stmt], loop: Loop) -> list[ast.stmt]:
    """Plain values that the loop sets once, above the model, for what is moved out: `hidden = 16`."""
    needed = {name for statement in moved for name in names_in(statement)}
    found: list[ast.stmt] = []
    for each in reversed(block_of(file, moved[0])):
        is_plain = isinstance(each, ast.Assign) and not any(inside(each, ast.Call))
        names = assigned_names(each)
        if each.lineno >= moved[0].lineno or each not in loop.body or not is_plain or len(names) != 1:
            continue
        often = list(inside(loop, ast.Assign, ast.AugAssign, ast.For))
        once = sum(bool(names & set(names_set(part))) for part in often) == 1
        if names & needed and once and names == set(names_set(each)):
            found.insert(0, each)
            needed |= names_in(each)
    return found
