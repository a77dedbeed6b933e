"""Repairs of gradients: cleared in time, recorded at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, callers, holds, optimizer_at, protocol, spot, spots, uncalled
from netmend.changes.loop.updates import updates
from netmend.program.source.moving import combined, out_of_block, taken_out, text_of
from netmend.program.source.names_of_object import known_as
from netmend.program.source.writing import delete_lines, insert_after, insert_before, replace
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import Call
from netmend.vocabulary.change import Change, FileEdits

_clear_example = partial(
    example, optimizer="torch.optim.SGD(model.parameters(), lr=0.01)", loop="for step in range(5)"
)


class ClearGradients(Repair, code="R101", cures=("LOOP-ZERO-GRAD",)):
    """Clear the gradients once per optimiser step.

    `zero_grad()` comes before the backward pass; where several backward passes make one step, it comes behind the step. A
    call that stands outside of the loop or on another branch is moved. Weights that are updated by hand get `grad = None`.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        done: set[str] = set()
        edits: FileEdits = ()
        for pattern, step in protocol(case, "step"):
            if any(call.what == "zero_grad" for call in pattern.calls) or step.component in done:
                continue
            if step.detail not in ("by hand", "none") and step.component:
                done.add(step.component)
                own = self._with_optimizer(case, list(pattern.calls), step)
                if not own:
                    return  # half a cure would be proven useless
                edits += own
        name = ", ".join(sorted(done)) or "the model"
        yield from self.change(
            case,
            f"clear the gradients of {name} at every step",
            edits or self._by_hand(case),
            knob="zero_grad",
        )

    def _with_optimizer(self, case: Case, calls: list[Call], step: Call) -> FileEdits:
        backwards = [call for call in calls if call.what == "backward" and call.site is not None]
        first = next(iter(backwards), None)
        stepped, start = spot(case.code, step.site), spot(case.code, first.site) if first else None
        misplaced = self._misplaced(case, step.component, start or stepped)
        written = text_of(misplaced.file, misplaced.statement, comment=False) if misplaced else ""
        # A closure is evaluated several times for one step, and clears each time.
        repeated = step.detail != "closure" and (
            any(call.times > 1 for call in backwards) or len({c.site for c in backwards}) < len(backwards)
        )
        # The same line in another place: what the object is called there may differ.
        for anchor, before in ((start, True), (stepped, False)):
            if anchor is None or (repeated and before) or isinstance(anchor.statement, ast.Return):
                continue
            bare = uncalled(anchor.file, anchor.statement, "zero_grad")
            if bare is not None:
                return replace(anchor.file, bare, f"{anchor.file.source(bare)}()")
            name = optimizer_at(case, step.component, anchor)
            if not name:
                continue
            text = f"{name}.zero_grad()"
            if misplaced is not None and misplaced.receiver == name:
                text = written
            put = (
                insert_before(anchor.file, anchor.statement, text)
                if before
                else insert_after(anchor.file, anchor.statement, text)
            )
            if misplaced is None or misplaced.receiver != name:
                return put
            taken = taken_out(misplaced.file, misplaced.statement)
            if misplaced.file.file != anchor.file.file:
                return (*taken, *put)
            return combined(anchor.file, taken, put, not before) or put
        return ()

    def _misplaced(self, case: Case, component: str, near: Spot | None) -> Spot | None:
        """The only clearing call of the program, when it stands in a loop or branch around the step, or on one beside it."""
        found = spots(case, "zero_grad", component)
        single = found[0] if len(found) == 1 and found[0].is_alone else None
        if single is None or near is None or not single.is_beside(near):
            return None
        parent = single.file.parent(single.statement)
        around = isinstance(parent, ast.For | ast.While) and holds(
            near.file, parent, [(near.file, near.call)]
        )
        return single if around or isinstance(parent, ast.If) else None

    def _by_hand(self, case: Case) -> FileEdits:
        """`p -= rate * p.grad`: each weight's gradient is dropped once it was used."""
        if not any(call.detail == "by hand" for _, call in protocol(case, "step")):
            return ()
        edits: FileEdits = ()
        for backward in spots(case, "backward"):
            for update in updates(case.code, backward.file):
                edits += insert_after(update.file, update.statement, f"{update.weight}.grad = None")
            if not edits and case.model is not None:
                name = known_as(case.code, case.model.created, backward.file, backward.call)
                edits = (
                    insert_before(backward.file, backward.statement, f"{name}.zero_grad()") if name else ()
                )
            break
        return edits

    EXAMPLES = {
        "never called": _clear_example(
            step="""
                loss = model(torch.ones(4, 2)).square().mean()
                + optimizer.zero_grad()
                ⟨loss.backward()⟩
                optimizer.step()"""
        ),
        "called before the loop over batches: moved": _clear_example(
            loop="for epoch in range(2)",
            step="""
                - optimizer.zero_grad(set_to_none=True)
                for step in range(5):
                    loss = model(torch.ones(4, 2)).square().mean()
                    + optimizer.zero_grad(set_to_none=True)
                    ⟨loss.backward()⟩
                    optimizer.step()""",
        ),
        "accumulated: behind the step": _clear_example(
            loop="for step in range(12)",
            step="""
                loss = model(torch.ones(4, 2)).square().mean() / 2
                ⟨loss.backward()⟩
                if step % 2:
                    optimizer.step()
                    + optimizer.zero_grad()""",
        ),
        "in a trainer, on the logging branch only": example("""
                class Trainer:
                    def __init__(self, net):
                        self.net, self.opt = net, torch.optim.Adam(net.parameters())
                    def update(self, loss):
                        + self.opt.zero_grad()
                        ⟨loss.backward()⟩
                        self.opt.step()
                    def fit(self):
                        for step in range(8):
                            self.update(self.net(torch.ones(4, 2)).square().mean())
                Trainer(nn.Linear(2, 1)).fit()"""),
        "updated by hand": example("""
                w = torch.zeros(2, 1, requires_grad=True)
                for step in range(6):
                    loss = (torch.ones(4, 2) @ w - 1).square().mean()
                    ⟨loss.backward()⟩
                    with torch.no_grad():
                        w -= 0.1 * w.grad
                        + w.grad = None"""),
        "a closure": _clear_example(
            optimizer="torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)",
            setup="""
                def closure():
                    loss = model(torch.ones(4, 2)).square().mean()
                    + optimizer.zero_grad()
                    ⟨loss.backward()⟩
                    return loss""",
            step="optimizer.step(closure)",
        ),
        "cleared as it should be": _clear_example(
            backward="model(torch.ones(4, 2)).square().mean()", mark="backward"
        ),
    }


_record_example = partial(example, optimizer="torch.optim.SGD(model.parameters(), lr=0.01)", raises=True)


class SwitchGradientsOn(Repair, code="R107", cures=("LOOP-NO-GRAD",)):
    """Let the training pass record gradients.

    A `with torch.no_grad():`, a decorator or a `set_grad_enabled(False)` that reaches the training pass leaves `backward()`
    nothing to go through; it is taken away, in the functions that lead there too.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        site = case.site
        file = None if site is None else case.code.file(str(case.sources.path(site.file)))
        if site is None or file is None:
            return
        edits = self._at_line(file, site.line)
        passes = spots(case, "forward")
        if (
            not edits
            and case.cause == "LOOP-NO-GRAD"
            and passes
            and not spots(case, "forward", training=True)
        ):
            edits = self._around(case, passes[0].file, passes[0].call) or self._for_good(case, file)
        yield from self.change(case, "record gradients in the training pass", edits, knob="no_grad")

    def _at_line(self, file: File, line: int) -> FileEdits:
        for node in inside(file.tree, ast.stmt):
            if isinstance(node, ast.With | ast.AsyncWith) and node.lineno <= line <= (
                node.end_lineno or node.lineno
            ):
                header = max(item.context_expr.end_lineno or 0 for item in node.items)
                if line <= header or node.body[0].lineno <= line:
                    edits = _without(file, node)
                    if edits:
                        return edits
            elif isinstance(node, Function):
                edits = _undecorated(file, node, line)
                if edits:
                    return edits
            elif isinstance(node, ast.Expr) and node.lineno == line and _switches_off(node.value):
                return taken_out(file, node)
        return ()

    def _around(self, case: Case, file: File, node: ast.AST, depth: int = 0) -> FileEdits:
        """What switches gradients off for a call, in the functions that lead to it."""
        for above in file.parents(node):
            if isinstance(above, ast.With | ast.AsyncWith):
                edits = _without(file, above)
            elif isinstance(above, Function):
                edits = _undecorated(file, above, None)
            else:
                continue
            if edits:
                return edits
        for caller in callers(case.code, file, node) if depth < 3 else ():
            edits = self._around(case, caller.file, caller.call, depth + 1)
            if edits:
                return edits
        return ()

    def _for_good(self, case: Case, near: File) -> FileEdits:
        """`torch.set_grad_enabled(False)` as a statement of its own: it stays."""
        for file in case.code.files(near.file):
            for node in inside(file.tree, ast.Expr):
                if _switches_off(node.value):
                    return taken_out(file, node)
        return ()

    EXAMPLES = {
        "a block around the training pass": _record_example(
            step="""
                - with torch.no_grad():
                    - # the prediction
                    - out = model(torch.ones(4, 2))
                    - loss = out.mean()
                + # the prediction
                + out = model(torch.ones(4, 2))
                + loss = out.mean()
                optimizer ← loss"""
        ),
        "a decorator": _record_example(
            setup="""
                - @torch.no_grad()
                def predict(net, x):
                    return net(x)""",
            step="loss = predict(model, torch.ones(4, 2)).mean()\nloss.backward()",
        ),
        "for good, found from the training pass": _record_example(
            setup="- torch.set_grad_enabled(False)",
            step="⟨loss = model(torch.ones(4, 2)).mean()⟩\nloss.backward()",
        ),
        "beside another context": _record_example(
            step="""
                with torch.⟨no_grad(), torch. → ⟩autograd.set_detect_anomaly(False):
                    loss = model(torch.ones(4, 2)).mean()
                loss.backward()"""
        ),
        "nothing switches them off": _record_example(
            step="⟨loss = model(torch.ones(4, 2)).detach().mean()⟩\nloss.backward()"
        ),
    }


def _switches_off(node: ast.expr) -> bool:
    """`torch.no_grad()`, `torch.inference_mode()`, `torch.set_grad_enabled(False)`."""
    called = node.func if isinstance(node, ast.Call) else node
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    value = given.value if isinstance(given, ast.Constant) else None
    if last_name(called) in ("no_grad", "inference_mode"):
        return value is not False
    return last_name(called) == "set_grad_enabled" and value is False


def _without(file: File, block: ast.With | ast.AsyncWith) -> FileEdits:
    items = [item.context_expr for item in block.items]
    wrong = [item for item in items if _switches_off(item)]
    if not wrong:
        return ()
    if len(wrong) == len(items):
        return out_of_block(file, block) or replace(file, wrong[0], _on(file, wrong[0]))
    index = items.index(wrong[0])
    start, end = file.span(wrong[0])
    if index + 1 < len(items):
        return file.edit(start, file.span(items[index + 1])[0], "")
    last = block.items[index - 1]
    return file.edit(file.span(last.optional_vars or last.context_expr)[1], end, "")


def _on(file: File, node: ast.expr) -> str:
    """The same, with gradients."""
    called = node.func if isinstance(node, ast.Call) else node
    if last_name(called) == "set_grad_enabled":
        return f"{file.source(called)}(True)"
    prefix = f"{file.source(called.value)}." if isinstance(called, ast.Attribute) else "torch."
    return f"{prefix}enable_grad()"


def _undecorated(file: File, function: Function, line: int | None) -> FileEdits:
    for decorator in function.decorator_list:
        if _switches_off(decorator) and line in (None, decorator.lineno):
            return delete_lines(file, decorator.lineno, decorator.end_lineno or decorator.lineno)
    return ()
