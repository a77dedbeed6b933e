"""Repairs of a training step that lacks a call: backward(), step()."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import (
    Spot,
    assigned_names,
    last_use_of_gradients,
    meeting,
    names_in,
    optimizer_at,
    protocol,
    scaler_of,
    spot,
    spots,
    targets_of,
    uncalled,
)
from netmend.program.source.moving import moved_after, moved_before, taken_out
from netmend.program.source.names_of_object import names_from
from netmend.program.source.writing import insert_after, insert_before, replace, wrap
from netmend.program.text.file import File, block_of, in_block
from netmend.program.text.queries import inside
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_backward_example = partial(
    example, optimizer="torch.optim.SGD(model.parameters(), lr=0.01)", loop="for step in range(5)"
)


class CallBackward(Repair, code="R102", cures=("LOOP-BACKWARD",)):
    """Call `backward()` on the loss before the optimiser steps.

    The loss is the value of the loss function, or else what the model's output was turned into last; the call comes behind
    it and before clipping and the step.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        step = next(iter(spots(case, "step")), None)
        if step is None or protocol(case, "backward"):
            return
        yield from self.change(case, "call backward() on the loss", self._edits(case, step), knob="backward")

    def _edits(self, case: Case, step: Spot) -> FileEdits:
        file = step.file
        bare = uncalled(file, step.statement, "backward")
        if bare is not None:
            return replace(file, bare, f"{file.source(bare)}()")
        for made in (*spots(case, "loss"), *spots(case, "forward", training=True)):
            name = self._name(case, made, step)
            if name:
                break
        else:
            return self._unnamed(case, step)
        last = self._assigned(file, step, name)
        met = None if last is None else meeting(file, last, step.statement)
        if met is None or last is None:
            return insert_before(file, self._first(case, step), self._text(case, step, name))
        block, after, until = met
        name = self._followed(file, block[after + 1 : until], name)
        anchor = block[until]
        for statement in block[after + 1 : until]:
            if any(
                in_block(file, [statement], each.call)
                for what in ("clip", "unscale")
                for each in spots(case, what)
            ):
                anchor = statement
                break
        return insert_before(file, anchor, self._text(case, step, name))

    def _text(self, case: Case, step: Spot, name: str) -> str:
        scaled = step.call.args and protocol(case, "unscale")  # scaler.step(optimizer)
        return f"{step.receiver}.scale({name}).backward()" if scaled else f"{name}.backward()"

    def _name(self, case: Case, made: Spot, step: Spot) -> str:
        """The variable of the step's scope that holds the value of a call, or what it was turned into."""
        direct = made.is_beside(step)
        value: ast.expr = made.call
        if direct:
            above = made.file.statement(made.call)
            if isinstance(above, ast.Assign) and len(above.targets) == 1:
                value = above.value
        scope = step.file.function(step.call) or step.file.tree
        here = [name for name in names_from(case.code, made.file, value) if name.scope is scope]
        return here[-1].text if here and here[-1].line <= step.statement.lineno else ""

    def _followed(self, file: File, statements: list[ast.stmt], name: str) -> str:
        """What a value is turned into before the step: `total = loss + penalty`."""
        for statement in statements:
            if isinstance(statement, ast.Assign) and name in names_in(statement.value):
                target = statement.targets[0]
                if isinstance(target, ast.Name) and not _leaves_graph(statement.value):
                    name = target.id
        return name

    def _assigned(self, file: File, step: Spot, name: str) -> ast.stmt | None:
        scope = file.function(step.call) or file.tree
        found = [
            node
            for node in inside(scope, ast.Assign, ast.AnnAssign)
            if node.lineno <= step.statement.lineno
            and any(file.source(target) == name for target in targets_of(node))
        ]
        return max(found, key=lambda node: node.lineno, default=None)

    def _first(self, case: Case, step: Spot) -> ast.stmt:
        """The step, or what is done to the gradients before it."""
        block = block_of(step.file, step.statement)
        found = [step.statement]
        for what in ("clip", "unscale"):
            for each in spots(case, what):
                there = in_block(step.file, block, each.call) if each.file.file == step.file.file else None
                found += [there] if there is not None else []
        return min(found, key=block.index)

    def _unnamed(self, case: Case, step: Spot) -> FileEdits:
        """The loss is nowhere kept: `total += criterion(out, y).item()`."""
        made = next((each for each in spots(case, "loss") if each.is_beside(step)), None)
        if made is None:
            return ()
        if made.is_alone:
            return wrap(made.file, made.call, "", ".backward()")
        scope = made.file.function(made.call) or made.file.tree
        if "loss" in assigned_names(scope) or isinstance(
            made.statement, ast.For | ast.While | ast.If | ast.With
        ):
            return ()
        text = f"loss = {made.file.source(made.call)}\n{self._text(case, step, 'loss')}"
        return (*insert_before(made.file, made.statement, text), *replace(made.file, made.call, "loss"))

    EXAMPLES = {
        "missing before the step": _backward_example(
            setup="criterion = nn.MSELoss()",
            step="""
                optimizer.zero_grad()
                loss = criterion(model(torch.ones(4, 2)), torch.ones(4, 1))
                + loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                ⟨optimizer.step()⟩""",
        ),
        "a sum of two, computed in another function": _backward_example(
            setup="""
                def objective(net):
                    error = nn.functional.mse_loss(net(torch.ones(4, 2)), torch.ones(4, 1))
                    return error
                def fit(net, opt):
                    for step in range(5):
                        opt.zero_grad()
                        error = objective(net)
                        total = error + 0.1 * net.weight.abs().sum()
                        + total.backward()
                        ⟨opt.step()⟩
                        print(total.item())
                fit(model, optimizer)""",
            loop="for step in range(3)",
        ),
        "written by hand": _backward_example(
            step="""
                optimizer.zero_grad()
                out = model(torch.ones(4, 2))
                difference = out - 1
                loss = (difference ** 2).mean()
                + loss.backward()
                if step >= 0:
                    ⟨optimizer.step()⟩"""
        ),
        "never kept": _backward_example(
            setup="total = 0.0",
            step="""
                optimizer.zero_grad()
                ⟨total += nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1)).item() → loss = nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))⟩
                + loss.backward()
                + total += loss.item()
                ⟨optimizer.step()⟩""",
        ),
        "it is called": _backward_example(loss="model(torch.ones(4, 2)).mean()", mark="optimizer.step"),
    }


def _leaves_graph(value: ast.expr) -> bool:
    return any(
        part.attr in ("item", "detach", "data", "numpy", "tolist", "argmax")
        for part in inside(value, ast.Attribute)
    ) or (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("float", "int")
    )


_step_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for step in range(5)",
    component="optimizer",
)


class CallStep(Repair, code="R103", cures=("LOOP-STEP",)):
    """Let the optimiser step after the backward pass.

    A missing `step()` is inserted behind `backward()` and clipping; one that comes too early is moved there. A `zero_grad()`
    between `backward()` and `step()` is moved before the backward pass.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = spot(case.code, case.site)
        if found is None or case.fault is None:
            return
        name = case.component
        if found.method == "zero_grad":
            yield from self.change(
                case,
                "clear the gradients before the backward pass",
                self._cleared(case, found),
                knob="zero_grad",
            )
        elif found.method == "step":
            yield from self.change(case, "step after the backward pass", self._late(case, found), knob="step")
        elif not any(call.detail != "none" for _, call in protocol(case, "step", name)):
            yield from self.change(case, f"call {name}.step()", self._missing(case, name, found), knob="step")

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

    EXAMPLES = {
        "missing, behind the clipping": _step_example(
            loop="for step in range(9)",
            step="""
                optimizer.zero_grad()
                ⟨model(torch.ones(4, 2)).square().mean().backward()⟩
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                + optimizer.step()""",
        ),
        "missing before the gradients are cleared, in a function of its own": _step_example(
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
        "missing, the optimiser has another name in the function": _step_example(
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
        "before the backward pass": _step_example(
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                + loss.backward()
                ⟨optimizer.step()⟩  # update
                - loss.backward()
                print("done")""",
            raises=True,
        ),
        "cleared between backward and step": _step_example(
            step="""
                loss = model(torch.ones(4, 2)).square().mean()
                + optimizer.zero_grad()
                loss.backward()
                - optimizer.zero_grad()
                optimizer.step()""",
            mark="zero_grad",
        ),
        "nothing is wrong": _step_example(loss="model(torch.ones(4, 2)).square().mean()", mark="backward"),
    }
