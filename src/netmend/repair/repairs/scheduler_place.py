"""R111."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import (
    Loop,
    Spot,
    assigned_names,
    is_repeated,
    loops_around,
    names_in,
    protocol,
    reached_from,
    scaler_of,
    spot,
    spots,
)
from netmend.changes.loop.rate_places import present_rate
from netmend.program.source.moving import combined, moved_after, taken_out, text_of
from netmend.program.source.names_of_object import known_as
from netmend.program.source.writing import insert_after
from netmend.program.text.file import File, block_of
from netmend.program.text.queries import holds
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import Change, FileEdits

# Schedules whose numbers count steps of the optimiser, as their documentation shows them.
_PER_BATCH = ("OneCycleLR", "CyclicLR", "LambdaLR", "LinearLR", "SequentialLR", "CosineAnnealingWarmRestarts")


_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for step in range(5)",
    cause="HYP-LR-SCHED",
)


class SchedulerPlace(Repair, code="R111", cures=("LOOP-SCHED-ORDER", "HYP-LR-SCHED")):
    """Step the scheduler where its numbers are meant.

    Behind the optimiser's step; behind the loop over batches where it counts epochs, inside of it where it counts steps.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        if case.fault is None:
            return
        for name, call in self._steps(case):
            fact = case.trace.get(SchedulerFact, name)
            kind = fact.kind if fact is not None else "scheduler"
            if case.cause == "LOOP-SCHED-ORDER":
                title, edits = "step the scheduler after the optimiser", self._behind(case, call)
            elif _every_step(case, name):
                if _rises(case, fact):
                    return  # the fewer its steps, the lower the rate stays
                title, edits = f"step {kind} once per epoch", self._per_epoch(case, call)
            elif kind in _PER_BATCH:
                title, edits = f"step {kind} after every step of the optimiser", self._per_batch(case, call)
            else:
                return
            yield from self.change(case, title, edits, knob="scheduler")
            return

    def _steps(self, case: Case) -> Iterator[tuple[str, Spot]]:
        """The scheduler's step that the fault is about, else the usual one."""
        line = case.site.line if case.site is not None else 0
        found = [
            (call.component, call.site) for _, call in protocol(case, "scheduler") if call.site is not None
        ]
        found.sort(key=lambda item: item[1].line != line)
        for name, site in found:
            each = spot(case.code, site)
            if each is not None and each.is_alone:
                yield name, each

    def _behind(self, case: Case, call: Spot) -> FileEdits:
        """Behind the statement of the same block that steps the optimiser, by itself or in what it calls."""
        file = call.file
        for step in spots(case, "step"):
            for where, node in reached_from(case.code, step.file, step.call):
                if where.file != file.file:
                    continue
                block = block_of(file, _guarded(call))
                there = next((s for s in block if holds(s, node)), None)
                if there is not None and block.index(there) > block.index(_guarded(call)):
                    last = self._with_update(case, block, there)
                    return moved_after(file, _guarded(call), last)
        return ()

    def _with_update(self, case: Case, block: list[ast.stmt], statement: ast.stmt) -> ast.stmt:
        """`scaler.update()` behind the step belongs to it."""
        following = block[block.index(statement) + 1 :][:1]
        if scaler_of(case) is not None and following and ".update()" in ast.unparse(following[0]):
            return following[0]
        return statement

    def _per_epoch(self, case: Case, call: Spot) -> FileEdits:
        loops = loops_around(call.file, call.call)
        if loops and (len(loops) > 1 or is_repeated(case.code, call.file, loops[0])):
            return moved_after(call.file, _guarded(call), loops[0])
        if loops:
            return ()
        # A helper for one batch: behind the loop that calls it, by the name it has there.
        for where, node in list(reached_from(case.code, call.file, call.call))[1:]:
            around: list[Loop] = loops_around(where, node)
            name = _name_there(case, where, node)
            if len(around) > 1 and name:
                arguments = call.file.source(call.call).partition("(")[2]
                put = insert_after(where, around[0], f"{name}.step({arguments}")
                return (*taken_out(call.file, call.statement), *put)
        return ()

    def _per_batch(self, case: Case, call: Spot) -> FileEdits:
        for step in spots(case, "step"):
            if call.is_beside(step) and step.is_alone and call.statement is not step.statement:
                last = self._with_update(case, block_of(step.file, step.statement), step.statement)
                put = insert_after(step.file, last, text_of(call.file, _guarded(call)))
                return combined(call.file, taken_out(call.file, call.statement), put, True)
        return ()

    EXAMPLES = {
        "before the optimiser's step": _example(
            setup="scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)",
            step="""
                optimizer.zero_grad()
                model(torch.ones(4, 2)).mean().backward()
                + optimizer.step()
                ⟨scheduler.step()⟩
                - optimizer.step()""",
            cause="",
        ),
        "at the top of the loop over epochs": _example(
            setup="""
                scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
                def train():
                    for step in range(3):
                        optimizer ← model(torch.ones(4, 2)).mean()""",
            loop="for epoch in range(3)",
            step="""
                + train()
                ⟨scheduler.step()⟩
                - train()
                print(epoch)""",
            cause="",
        ),
        "counts epochs, stepped for every batch": _example(
            setup="scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, gamma=0.1)",
            epochs="for epoch in range(3)",
            after_step="- scheduler.step()",
            backward="model(torch.ones(4, 2)).mean()",
            after_epoch="+ scheduler.step()\nprint(epoch)",
        ),
        "a warm-up, which would take still longer": _example(
            setup="scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step / 1000)",
            epochs="for epoch in range(3)",
            after_step="⟨scheduler.step()⟩",
            backward="model(torch.ones(4, 2)).mean()",
        ),
        "a factor that leaves next to nothing at any step": _example(
            setup="scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.001 * 0.9 ** step)",
            epochs="for epoch in range(3)",
            after_step="⟨scheduler.step()⟩",
            backward="model(torch.ones(4, 2)).mean()",
        ),
        "the last line, in a function for one epoch": _example(
            setup="""
                def train(opt, sched):
                    for step in range(5):
                        opt ← model(torch.ones(4, 2)).mean()
                        - sched.step()
                    + sched.step()
                scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)""",
            loop="for epoch in range(3)",
            step="train(optimizer, scheduler)",
        ),
        "with the condition around it": _example(
            setup="""
                def train(opt, sched=None):
                    for step in range(5):
                        opt ← model(torch.ones(4, 2)).mean()
                        - if sched is not None:
                            - sched.step()
                    + if sched is not None:
                    +     sched.step()
                    return step
                scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)""",
            loop="for epoch in range(3)",
            step="train(optimizer, scheduler)",
            mark="sched.step",
        ),
        "stepped once per epoch, as it should be": _example(
            setup="scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, gamma=0.1)",
            epochs="for epoch in range(3)",
            backward="model(torch.ones(4, 2)).mean()",
            after_epoch="⟨scheduler.step()⟩",
        ),
    }


def _guarded(call: Spot) -> ast.stmt:
    """The step with the condition around it that does not depend on the round: `if scheduler is not None`."""
    parent, loop = call.file.parent(call.statement), call.file.loop(call.statement)
    if not isinstance(parent, ast.If) or len(parent.body) > 1 or parent.orelse:
        return call.statement
    bound = set() if loop is None else assigned_names(loop)
    return call.statement if names_in(parent.test) & bound else parent


def _rises(case: Case, scheduler: SchedulerFact | None) -> bool:
    """Whether the rate that a schedule sets never fell, or never came near the one that was given."""
    optimizer = "" if scheduler is None else scheduler.optimizer
    _, rates = case.trace.series("rate", f"{optimizer}[0]", "rate")
    known = [float(rate) for rate in rates]
    optimizers = (one for one in case.trace.optimizers if one.name == optimizer)
    base = next((present_rate(case, one) for one in optimizers), None)
    if base is not None and known and max(known) < 0.1 * base:
        return True
    return len(known) > 1 and known[-1] > known[0] and known == sorted(known)


def _every_step(case: Case, scheduler: str) -> bool:
    """Whether a scheduler is stepped about as often as the optimiser."""
    stepped = sum(pattern.steps * call.times for pattern, call in protocol(case, "scheduler", scheduler))
    seen = sum(p.steps for p in case.trace.patterns if any(c.what == "step" for c in p.calls))
    return stepped > seen / 2


def _name_there(case: Case, where: File, node: ast.AST) -> str:
    """What the scheduler is called at another place."""
    names = (known_as(case.code, fact.created, where, node) for fact in case.trace.all(SchedulerFact))
    return next(filter(None, names), "")
