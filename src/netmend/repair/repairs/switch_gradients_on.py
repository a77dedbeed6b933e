"""R107."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import callers, spots
from netmend.program.source.moving import out_of_block, taken_out
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.program.text.positions import lines_of
from netmend.program.text.queries import Function, inside, last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change, FileEdits

_example = partial(example, optimizer="torch.optim.SGD(model.parameters(), lr=0.01)", raises=True)


@register
@dataclass(frozen=True)
class SwitchGradientsOn:
    """Let the training pass record gradients.

    A `with torch.no_grad():`, a decorator or a `set_grad_enabled(False)` that reaches the training pass leaves `backward()`
    nothing to go through; it is taken away, in the functions that lead there too.
    """

    code: ClassVar[str] = "R107"
    cures: ClassVar[tuple[str, ...]] = ("LOOP-NO-GRAD",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        site = None if case.fault is None else case.fault.site
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
        yield from change(self, case, "record gradients in the training pass", edits, knob="no_grad")

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

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a block around the training pass",
            step="""
                - with torch.no_grad():
                    - # the prediction
                    - out = model(torch.ones(4, 2))
                    - loss = out.mean()
                + # the prediction
                + out = model(torch.ones(4, 2))
                + loss = out.mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()""",
        ),
        _example(
            "a decorator",
            setup="""
                - @torch.no_grad()
                def predict(net, x):
                    return net(x)""",
            step="loss = predict(model, torch.ones(4, 2)).mean()\nloss.backward()",
        ),
        _example(
            "for good, found from the training pass",
            setup="- torch.set_grad_enabled(False)",
            step="⟨loss = model(torch.ones(4, 2)).mean()⟩\nloss.backward()",
        ),
        _example(
            "beside another context",
            step="""
                with torch.⟨no_grad(), torch. → ⟩autograd.set_detect_anomaly(False):
                    loss = model(torch.ones(4, 2)).mean()
                loss.backward()""",
        ),
        _example(
            "nothing switches them off",
            step="⟨loss = model(torch.ones(4, 2)).detach().mean()⟩\nloss.backward()",
        ),
    )


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
    here, lines = file.place(wrong[0]), lines_of(file.text)
    if index + 1 < len(items):
        after = file.place(block.items[index + 1].context_expr)
        span = lines.offset(here.line, here.column), lines.offset(after.line, after.column)
    else:
        last = block.items[index - 1]
        before = file.place(last.optional_vars or last.context_expr)
        span = lines.offset(before.end_line, before.end_column), lines.offset(here.end_line, here.end_column)
    start, end = span
    return () if start is None or end is None else file.edits(lines.edit(start, end, ""))


def _on(file: File, node: ast.expr) -> str:
    """The same, with gradients."""
    called = node.func if isinstance(node, ast.Call) else node
    if last_name(called) == "set_grad_enabled":
        return f"{file.source(called)}(True)"
    prefix = f"{file.source(called.value)}." if isinstance(called, ast.Attribute) else "torch."
    return f"{prefix}enable_grad()"


def _undecorated(file: File, function: Function, line: int | None) -> FileEdits:
    lines = lines_of(file.text)
    for decorator in function.decorator_list:
        if _switches_off(decorator) and line in (None, decorator.lineno):
            place = file.place(decorator)
            return file.edits(lines.edit(lines.start(place.line), lines.start(place.end_line + 1), ""))
    return ()
