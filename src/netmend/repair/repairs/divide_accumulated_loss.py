"""R110."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import (
    Spot,
    last_use_of_gradients,
    loops_around,
    names_in,
    optimizer_at,
    protocol,
    scaler_of,
    spot,
    spots,
    targets_of,
)
from netmend.program.source.moving import combined, moved_after, taken_out, text_of
from netmend.program.source.writing import insert_after, replace
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_example = partial(example, optimizer="torch.optim.SGD(model.parameters(), lr=0.01)")


class DivideAccumulatedLoss(Repair, code="R110", cures=("LOOP-ACCUM",)):
    """Make several small batches count as one large one.

    Each loss is divided by the number of batches that make one step, so that the sum of their gradients is a mean. Where the
    gradients are cleared between those batches, `zero_grad()` is moved behind the step. A step that merely slipped out of the loop
    over batches is moved back into it.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = spot(case.code, case.site)
        if found is None:
            return
        moved = self._step_back_in_loop(case, found) if found.method == "zero_grad" else ()
        if moved:
            yield from self.change(case, "step for every batch, inside the loop", moved, knob="step")
        elif found.method == "zero_grad":
            edits = self._cleared_later(case, found)
            yield from self.change(case, "clear the gradients after the step", edits, knob="zero_grad")
        else:
            count = self._count(case, found)
            edits = self._divided(found, count) if count else ()
            yield from self.change(case, f"divide the loss by {count}", edits, knob="accumulated loss")

    def _step_back_in_loop(self, case: Case, clear: Spot) -> FileEdits:
        """`step()` behind a loop over whole batches that clears in each round: only the last batch of a pass would count."""
        for step in spots(case, "step"):
            if not (step.is_alone and step.is_beside(clear)) or scaler_of(case) is not None:
                continue
            around = loops_around(step.file, step.call)
            missed = [loop for loop in loops_around(clear.file, clear.call) if loop not in around]
            backward = next((each for each in spots(case, "backward") if each.is_beside(clear)), None)
            if len(missed) != 1 or backward is None or not isinstance(missed[0], ast.For):
                continue
            if missed[0] not in loops_around(backward.file, backward.call) or _is_divided(missed[0]):
                continue
            if not _takes_parts(missed[0], around):
                anchor = last_use_of_gradients(case, backward, backward.statement)
                return moved_after(step.file, step.statement, anchor)
        return ()

    def _cleared_later(self, case: Case, clear: Spot) -> FileEdits:
        for step in spots(case, "step"):
            if not clear.is_alone or isinstance(step.statement, ast.Return):
                continue
            name = optimizer_at(case, "", step) or step.receiver
            text = text_of(clear.file, clear.statement) if step.is_beside(clear) else f"{name}.zero_grad()"
            others = [each for each in spots(case, "zero_grad") if each.call is not clear.call]
            taken = taken_out(clear.file, clear.statement)
            if any(each.is_beside(step) and each.call.lineno > step.call.lineno for each in others):
                return taken
            last = step.statement
            scaled = scaler_of(case)
            if scaled is not None:  # scaler.update() belongs to the step
                for call in step.file.calls("update"):
                    near = step.file.statement(call)
                    if near is not None and 0 < near.lineno - last.lineno < 3:
                        last = near
            put = insert_after(step.file, last, text)
            if step.file.file != clear.file.file:
                return (*taken, *put)
            return combined(step.file, taken, put, True)
        return ()

    def _count(self, case: Case, backward: Spot) -> str:
        """How the number of batches is written: `accumulate` of `if (i + 1) % accumulate == 0: step`."""
        times = max(
            (
                sum(call.times for call in pattern.calls if call.what == "backward")
                for pattern, step in protocol(case, "step")
                if step.component
            ),
            default=0,
        )
        if times < 2:
            return ""
        for step in spots(case, "step"):
            for above in step.file.parents(step.statement):
                if isinstance(above, ast.If) and step.is_beside(backward):
                    for part in inside(above.test, ast.BinOp):
                        if isinstance(part.op, ast.Mod):
                            return step.file.source(part.right)
        return str(times)

    def _divided(self, backward: Spot, count: str) -> FileEdits:
        call = backward.call
        if isinstance(call.func, ast.Attribute) and _is_method(call.func.value, "scale"):
            inner = call.func.value
            assert isinstance(inner, ast.Call)
            return _over(backward, inner.args[0], count)
        if call.args and not (isinstance(call.args[0], ast.Constant)):
            return _over(backward, call.args[0], count)  # accelerator.backward(loss)
        if isinstance(call.func, ast.Attribute) and backward.method == "backward":
            value = call.func.value
            whole = f"{backward.file.source(value)} / {count}"
            if isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
                return replace(backward.file, value, f"({whole})")
            # The brackets of `(a + b).backward()` stand around the value.
            return replace(backward.file, value, f"({backward.file.source(value)}) / {count}")
        return ()

    EXAMPLES = {
        "not divided": _example(
            setup="every = 4",
            loop="for step in range(16)",
            step="""
                loss = model(torch.ones(4, 2)).square().mean()
                ⟨loss.backward() → (loss / every).backward()⟩
                if (step + 1) % every == 0:
                    optimizer.step()
                    optimizer.zero_grad()""",
        ),
        "a loop over parts of a batch": _example(
            loop="for step in range(4)",
            step="""
                optimizer.zero_grad()
                for part in torch.ones(8, 2).chunk(4):
                    ⟨model(part).square().mean() → (model(part).square().mean() / 4)⟩.backward()
                optimizer.step()""",
        ),
        "cleared for every part": _example(
            loop="for step in range(16)",
            step="""
                - optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean() / 4
                loss.backward()
                if (step + 1) % 4 == 0:
                    optimizer.step()
                    + optimizer.zero_grad()""",
            component="optimizer",
        ),
        "a step that slipped out of the loop over batches": _example(
            epochs="for epoch in range(4)",
            loop="for rows in torch.ones(16, 2).split(4)",
            step="""
                ⟨optimizer.zero_grad()⟩
                loss = model(rows).square().mean()
                loss.backward()
                + optimizer.step()
                total = loss.item()""",
            after_epoch="- optimizer.step()",
            component="optimizer",
        ),
        "parts of one batch are cleared: the step stays": _example(
            epochs="for batch in torch.ones(4, 8, 2)",
            loop="for part in batch.chunk(4)",
            step="- optimizer.zero_grad()\nmodel(part).square().mean().backward()",
            after_epoch="optimizer.step()\n+ optimizer.zero_grad()",
            component="optimizer",
        ),
        "one batch for each step": _example(
            loop="for step in range(4)", backward="model(torch.ones(4, 2)).square().mean()", mark="backward"
        ),
    }


_ORDERS = ("randperm", "permutation", "arange")  # of all samples: what is cut out of them are whole batches


def _takes_parts(loop: ast.For, around: Sequence[ast.AST]) -> bool:
    """Whether a loop goes through something that the loop around it makes anew: the parts of one batch."""
    used, made = names_in(loop.iter), set[str]()
    for outer in around[:1]:
        for node in inside(outer, ast.stmt):
            orders = isinstance(node, ast.Assign) and any(
                last_name(part.func) in _ORDERS for part in inside(node.value, ast.Call)
            )
            if not orders:
                made |= {target.id for target in targets_of(node) if isinstance(target, ast.Name)}
    return bool(used & (made - names_in(loop.target)))


def _is_divided(loop: ast.For) -> bool:
    """Whether a loss is made small in it, as for several backward passes that make one step."""
    receivers = [
        node.func.value
        for node in inside(loop, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
    ]
    differentiated = {last_name(receiver) for receiver in receivers}
    if any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div) for each in receivers):
        return True
    divided: list[ast.expr] = []
    for node in inside(loop, ast.AugAssign, ast.Assign):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            divided.append(node.target)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.BinOp)
            and isinstance(node.value.op, ast.Div)
        ):
            divided.append(node.targets[0])
    return any(last_name(target) in differentiated for target in divided)


def _is_method(node: ast.expr, name: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and len(node.args) == 1
    )


def _over(backward: Spot, value: ast.expr, count: str) -> FileEdits:
    """`loss` → `loss / count` as an argument; a sum needs brackets."""
    simple = isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    source = backward.file.source(value)
    return replace(backward.file, value, f"{source} / {count}" if simple else f"({source}) / {count}")
