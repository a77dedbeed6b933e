"""R212."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.program.source.writing import delete_statement, once, rename, united
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name, methods
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

# Steps have no slope: who writes a backward for them replaces the gradient on purpose.
_STEPS = (
    "sign",
    "round",
    "floor",
    "ceil",
    "heaviside",
    "argmax",
    "bernoulli",
    "trunc",
    "gt",
    "ge",
    "lt",
    "le",
)
_LEAVING = ("numpy", "detach", "data", "item")


class CustomGradient(Repair, code="R212", cures=("TRN-GRAD", "TRN-BACKPROP")):
    """Use the plain operation of a custom autograd.Function's forward, so that its gradient is derived and not written.

    The gradient is then right by construction; memory and time may differ a little. Functions whose forward has steps are left
    alone: their backward replaces the gradient on purpose.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        for file, owner in self._functions(case):
            edits = self._plain(case, file, owner)
            if edits:
                yield from self.change(
                    case, f"the derived gradient of {owner.name}", edits, knob=f"gradient of {owner.name}"
                )
                return

    @staticmethod
    def _functions(case: Case) -> Iterator[tuple[File, ast.ClassDef]]:
        """The class that the fault names, else the one its line stands in."""
        wanted = case.component.rpartition(".")[2].partition("@")[0]
        site = case.site
        for file in case.code.files(site.file if site is not None else ""):
            for node in inside(file.tree, ast.ClassDef):
                if "Function" not in map(last_name, node.bases):
                    continue
                around = (
                    site is not None
                    and case.code.file(site.file) is not None
                    and str(case.sources.path(site.file)) == file.file
                    and node.lineno <= site.line <= (node.end_lineno or node.lineno)
                )
                if node.name == wanted or around:
                    yield file, node

    def _plain(self, case: Case, file: File, owner: ast.ClassDef) -> FileEdits:
        own = methods(owner)
        forward, backward = own.get("forward"), own.get("backward")
        if forward is None or backward is None or set(own) != {"forward", "backward"}:
            return ()
        if not forward.args.args:
            return ()
        context = forward.args.args[0].arg
        kept = [node for node in forward.body if not _is_about(node, context)]
        names = [part for node in kept for part in inside(node, ast.expr)]
        if any(isinstance(part, ast.Name) and part.id == context for part in names):
            return ()
        steps = [
            part
            for part in names
            if isinstance(part, ast.Compare)
            or (isinstance(part, ast.Call) and last_name(part.func) in _STEPS)
        ]
        if any(last_name(part) in _LEAVING for part in names) or not all(
            _is_factor(file, step) for step in steps
        ):
            return ()
        if not any(isinstance(node, ast.Return) for node in kept):
            return ()
        given = forward.args.args
        edits = [*file.edit(file.span(given[0])[0], file.span(given[1])[0], "")] if len(given) > 1 else []
        for node in forward.body:
            if node not in kept:
                edits += delete_statement(file, node)
        edits += self._without_method(file, backward)
        calls: list[FileEdits] = [
            rename(other, node, "forward")
            for other in case.code.files(file.file)
            for node in inside(other.tree, ast.Attribute)
            if node.attr == "apply" and last_name(node.value) == owner.name
        ]
        return once((*edits, *united(calls))) if calls else ()

    @staticmethod
    def _without_method(file: File, method: Function) -> FileEdits:
        """A method with its decorators and the blank lines before it."""
        lines = file.lines
        first = min([method.lineno, *(decorator.lineno for decorator in method.decorator_list)])
        while first > 1 and not lines.content(first - 1).strip():
            first -= 1
        return file.edit(lines.end(first - 1), lines.end(method.end_lineno or method.lineno), "")

    EXAMPLES = {
        "a wrong derivative": example(
            data="""
                class Cube(torch.autograd.Function):
                    @staticmethod
                    def forward(⟨ctx, x → x⟩):
                        - ctx.save_for_backward(x)
                        return x ** 3
                    - @staticmethod
                    - def backward(ctx, grad):
                        - (x,) = ctx.saved_tensors
                        - return -grad * 3 * x ** 2""",
            helpers="def cubed(x):\n    return Cube.⟨apply → forward⟩(model(x))",
            loss="cubed(torch.randn(8, 2)).pow(2).mean()",
            mark="return -grad",
        ),
        "a step with a gradient of its own": example(
            data="""
                class Step(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return torch.sign(x)
                    @staticmethod
                    def backward(ctx, grad):
                        ⟨return grad⟩""",
            loss="Step.apply(model(torch.randn(8, 2))).mean()",
        ),
    }


def _is_about(statement: ast.stmt, context: str) -> bool:
    """`ctx.save_for_backward(x)`, `ctx.size = …`: only for backward."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        return isinstance(function, ast.Attribute) and last_name(function.value) == context
    if isinstance(statement, ast.Assign):
        return all(isinstance(t, ast.Attribute) and last_name(t.value) == context for t in statement.targets)
    return False


def _is_factor(file: File, step: ast.AST) -> bool:
    """`sign(x) * abs(x)`, `where(x > 0, …)`: a step that only chooses what else has a slope."""
    below = step
    for above in file.parents(step):
        if isinstance(above, ast.stmt):
            return False
        if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult):
            return True
        if isinstance(above, ast.Call) and last_name(above.func) == "where":
            return above.args[:1] == [below]
        below = above
    return False
