"""R103."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import (
    Spot,
    last_use_of_gradients,
    meeting,
    optimizer_at,
    protocol,
    scaler_of,
    spot,
    spots,
    uncalled,
)
from netmend.program.source.moving import moved_after, moved_before, taken_out
from netmend.program.source.writing import insert_after, insert_before, replace
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change, FileEdits

_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for step in range(5)",
    component="optimizer",
)


@register
@dataclass(frozen=True)
class CallStep:
    """Let the optimiser step after the backward pass.

    A missing `step()` is inserted behind `backward()` and clipping; one that comes too early is moved there. A `zero_grad()`
    between `backward()` and `step()` is moved before the backward pass.
    """

    code: ClassVar[str] = "R103"
    cures: ClassVar[tuple[str, ...]] = ("LOOP-STEP",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        found = spot(case.code, case.fault.site) if case.fault is not None else None
        if found is None or case.fault is None:
            return
        name = case.fault.component
        if found.method == "zero_grad":
            yield from change(
                self,
                case,
                "clear the gradients before the backward pass",
                self._cleared(case, found),
                knob="zero_grad",
            )
        elif found.method == "step":
            yield from change(
                self, case, "step after the backward pass", self._late(case, found), knob="step"
            )
        elif not any(call.detail != "none" for _, call in protocol(case, "step", name)):
            yield from change(
                self, case, f"call {name}.step()", self._missing(case, name, found), knob="step"
            )

    def _cleared(self, case: Case, clear: Spot) -> FileEdits:
        backward = next((each for each in spots(case, "backward") if each.is_beside(clear)), None)
        if backward is None or not clear.is_alone:
            return ()
        others = [each for each in spots(case, "zero_grad") if each.receiver == clear.receiver]
        if len(others) > 1:
            return taken_out(clear.file, clear.statement)  # they are cleared elsewhere as well
        return moved_before(clear.file, clear.statement, backward.statement)

    def _late(self, case: Case, step: Spot) -> FileEdits:
        for backward in spots(case, "backward"):
            if backward.is_beside(step) and step.is_alone:
                met = meeting(step.file, step.statement, backward.statement)
                if met is None:
                    continue
                block, first, second = met
                if first < second and block[first] is step.statement:
                    return moved_after(
                        step.file, step.statement, last_use_of_gradients(case, step, block[second])
                    )
        return ()

    def _missing(self, case: Case, component: str, found: Spot) -> FileEdits:
        backward = self._backward(case, component) or found
        name = optimizer_at(case, component, backward)
        if not name or isinstance(backward.statement, ast.Return):
            return ()
        bare = uncalled(backward.file, backward.statement, "step")
        if bare is not None:
            return replace(backward.file, bare, f"{backward.file.source(bare)}()")
        file, text = backward.file, f"{name}.step()"
        scaled = scaler_of(case)
        if scaled is not None:
            scaler = scaled[0].file.source(scaled[1])
            text = f"{scaler}.step({name})"
            for update in file.calls("update"):
                statement = file.statement(update)
                is_own = isinstance(update.func, ast.Attribute) and file.source(update.func.value) == scaler
                if is_own and statement is not None and meeting(file, backward.statement, statement):
                    return insert_before(file, statement, text)
            text += f"\n{scaler}.update()"
        for clear in spots(case, "zero_grad", component):
            met = meeting(file, backward.statement, clear.statement) if clear.is_beside(backward) else None
            if met is not None and met[1] < met[2]:
                return insert_before(file, clear.statement, text)
        return insert_after(file, last_use_of_gradients(case, backward, backward.statement), text)

    def _backward(self, case: Case, component: str) -> Spot | None:
        """The backward pass that follows the clearing of an optimiser's gradients."""
        for pattern, _ in protocol(case, "zero_grad", component):
            cleared = False
            for call in pattern.calls:
                cleared = cleared or (call.what == "zero_grad" and call.component == component)
                if cleared and call.what == "backward":
                    return spot(case.code, call.site)
        return None

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "missing, behind the clipping",
            loop="for step in range(9)",
            step="""
                optimizer.zero_grad()
                ⟨model(torch.ones(4, 2)).square().mean().backward()⟩
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                + optimizer.step()""",
        ),
        _example(
            "missing before the gradients are cleared, in a function of its own",
            setup="""
                def train(net, opt):
                    for step in range(9):
                        loss = net(torch.ones(4, 2)).square().mean()
                        loss.backward()
                        + opt.step()
                        opt.zero_grad()
                train(model, optimizer)""",
            loop="for step in range(3)",
            component="opt",
        ),
        _example(
            "missing, the optimiser has another name in the function",
            setup="""
                def train(net, trainer):
                    for step in range(9):
                        net.zero_grad()
                        loss = net(torch.ones(4, 2)).square().mean()
                        loss.backward()
                        + trainer.step()
                train(model, trainer=optimizer)""",
            loop="for step in range(3)",
            component="trainer",
        ),
        _example(
            "before the backward pass",
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                + loss.backward()
                ⟨optimizer.step()⟩  # update
                - loss.backward()
                print("done")""",
            raises=True,
        ),
        _example(
            "cleared between backward and step",
            step="""
                loss = model(torch.ones(4, 2)).square().mean()
                + optimizer.zero_grad()
                loss.backward()
                - optimizer.zero_grad()
                optimizer.step()""",
            mark="zero_grad",
        ),
        _example("nothing is wrong", loss="model(torch.ones(4, 2)).square().mean()", mark="backward"),
    )
