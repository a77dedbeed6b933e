"""Repairs of numbers that leave their range: more bits, safe logarithms and divisions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

import numpy as np

from netmend.changes.case import Case
from netmend.changes.network.output_uses import innermost
from netmend.diagnose.measures.loop import calls
from netmend.program.source.moving import taken_out
from netmend.program.source.naming import qualified, rename_callee, spelled
from netmend.program.source.writing import add_argument, replace, united, unwrap_call, unwrap_method, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_HALF = ("float16", "bfloat16")
_CASTS = ("half", "bfloat16")
_TYPES = {
    "torch.float16": "float32",
    "torch.half": "float32",
    "torch.bfloat16": "float32",
    "numpy.float16": "float32",
    "numpy.half": "float32",
}


_example = partial(
    example,
    model="nn.Linear(3, 1)",
    optimizer="torch.optim.SGD(model.parameters(), lr=1e-6)",
    loop="for step in range(5)",
)


class FullPrecision(
    Repair, code="R410", cures=("LOOP-AMP", "PRE-WRONG-DTYPE"), knob="precision", effort=BY_FACTS
):
    """Keep weights and data in float32.

    In half precision a weight plus a small update is the same weight again, and values beyond 65504 overflow. Training takes more memory
    and, on a device made for it, more time; automatic mixed precision gives most of that back.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        if any(parameter.trainable and parameter.dtype in _HALF for parameter in case.trace.parameters):
            edits = tuple(edit for file in case.code.files() for edit in self._casts(file))
            yield from self.change(case, "weights and data in float32", edits)
        elif any(call.detail.startswith("skipped") for _, call in calls(case.trace, "step")):
            # Values overflow although the scale was lowered: a wider range, or none of it.
            for title, argument in (("mixed precision in bfloat16", "bfloat16"), ("no mixed precision", "")):
                edits = tuple(edit for file in case.code.files() for edit in self._autocast(file, argument))
                yield from self.change(case, title, edits)

    def _casts(self, file: File) -> FileEdits:
        """Every cast to half precision that is not a part of mixed precision."""
        edits: list[FileEdits] = []
        for node in inside(file.tree, ast.Call, ast.Attribute):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
                if node.func.attr in _CASTS and not qualified(file, node.func):
                    statement = file.parent(node)
                    if isinstance(statement, ast.Expr):
                        edits.append(taken_out(file, statement))
                    elif (
                        isinstance(node.func.value, ast.Call)
                        and last_name(node.func.value.func)[:1].isupper()
                    ):
                        edits.append(unwrap_method(file, node))  # Net().half()
                    else:
                        edits.append(replace(file, node, f"{file.source(node.func.value)}.float()"))
            elif isinstance(node, ast.Attribute) and not self._is_mixed(file, node):
                wanted = _TYPES.get(qualified(file, node), "")
                if wanted:
                    edits.append(replace(file, node, f"{file.source(node.value)}.{wanted}"))
        return united(edits)

    def _is_mixed(self, file: File, node: ast.AST) -> bool:
        return any(
            isinstance(above, ast.Call) and last_name(above.func) in ("autocast", "Policy", "MixedPrecision")
            for above in file.parents(node)
        )

    def _autocast(self, file: File, dtype: str) -> FileEdits:
        edits: list[FileEdits] = []
        for call in file.calls("autocast"):
            name, text = ("dtype", f"torch.{dtype}") if dtype else ("enabled", "False")
            given = next((keyword for keyword in call.keywords if keyword.arg == name), None)
            if given is not None:
                edits.append(replace(file, given.value, text))
            else:
                edits.append(add_argument(file, call, f"{name}={text}"))
        return united(edits)

    EXAMPLES = {
        "a model in half precision": _example(
            helpers="- model.half()  # faster",
            step="""
                x, y = torch.randn(8, 3).⟨half(), torch.randn(8, 1, dtype=torch.float16) → float(), torch.randn(8, 1, dtype=torch.float32)⟩
                optimizer ← ((model(x) - y) ** 2).mean()""",
        ),
        "made so and moved so": _example(
            model="nn.Sequential(nn.Linear(3, 1)).to(torch.⟨bfloat16 → float32⟩)",
            step="""
                x = torch.randn(8, 3)
                optimizer ← model(x.to(model[0].weight.dtype)).mean()""",
            cause="PRE-WRONG-DTYPE",
        ),
        "mixed precision keeps its weights in float32": _example(
            optimizer="⟨torch.optim.SGD(model.parameters(), lr=1e-2)⟩",
            loop="for step in range(3)",
            step="""
                optimizer.zero_grad()
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = model(torch.randn(8, 3)).mean()
                loss.backward()
                optimizer.step()""",
        ),
    }


_GUARDS = {
    "log": ".clamp(min=1e-7)",
    "log2": ".clamp(min=1e-7)",
    "log10": ".clamp(min=1e-7)",
    "sqrt": " + 1e-8",
    "rsqrt": " + 1e-8",
    "reciprocal": " + 1e-8",
    "exp": ".clamp(max=30)",
    "acos": ".clamp(-1 + 1e-6, 1 - 1e-6)",
    "arccos": ".clamp(-1 + 1e-6, 1 - 1e-6)",
    "asin": ".clamp(-1 + 1e-6, 1 - 1e-6)",
}
_STABLE = {"softmax": "log_softmax", "sigmoid": "logsigmoid"}


class SafeLogarithm(
    Repair, code="R207", cures=("LOS-CALC", "ACT-HID-WRONG"), knob="numerical safety", explores=True
):
    """Keep logarithms, roots and divisions away from zero.

    The logarithm of a softmax or sigmoid becomes log_softmax or logsigmoid; any other argument is clamped, a divisor or what stands
    under a root gets a small number. Values that were in order hardly change.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        if case.fault is None:
            yield from self.change(case, "keep numbers away from zero", self._all(case))
            return
        site = case.site
        found = case.code.statement_at(site)
        if found is None or site is None:
            return
        file, statement = found
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.For | ast.With | ast.If | ast.While):
            return
        exact = file.node_at(site) if site.column is not None else None
        if case.cause == "ACT-HID-WRONG" and (exact is None or not self._guarded(file, exact)):
            return
        kinds = _kind(exact) if exact is not None and self._guarded(file, exact) else ""
        nodes = list(inside(statement, ast.expr))
        alike = [node for node in nodes if not kinds or _kind(node) == kinds]
        edits = innermost(edit for node in alike for edit in self._guarded(file, node))
        title = f"a safe {kinds}" if kinds else "keep numbers away from zero"
        yield from self.change(case, title, edits)

    def _all(self, case: Case) -> FileEdits:
        """Whatever could fail in the forward pass and the objective of a run whose loss stopped being a number."""
        if bool(np.isfinite(case.trace.loss[1]).all()):
            return ()
        sites = [module.called for module in case.trace.all(ModuleFact)]
        sites += [site for loss in case.trace.losses for site in (loss.called, loss.backward)]
        edits: FileEdits = ()
        for file, place in {found[1]: found for s in sites if (found := case.code.statement_at(s))}.values():
            around = file.function(place) or file.loop(place) or place
            for node in inside(around, ast.expr):
                if isinstance(node, ast.BinOp) and not _measures(node.right):
                    continue  # dividing by a count or a constant is what most divisions are
                edits = (*edits, *self._guarded(file, node))
        return innermost(edits)

    def _guarded(self, file: File, node: ast.AST) -> FileEdits:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            plain = isinstance(node.right, ast.Constant) or _is_guarded(node.right) or _is_count(node.right)
            return () if plain else replace(file, node.right, f"({file.source(node.right)} + 1e-8)")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            root = isinstance(node.right, ast.Constant) and node.right.value in (0.5, -0.5)
            plain = _is_guarded(node.left) or _is_count(node.left) or isinstance(node.left, ast.Constant)
            return (
                replace(file, node.left, f"({file.source(node.left)} + 1e-8)") if root and not plain else ()
            )
        if not isinstance(node, ast.Call):
            return ()
        name, known = last_name(node.func), qualified(file, node.func)
        method = isinstance(node.func, ast.Attribute) and not known
        if name not in _GUARDS or known.startswith(("math.", "numpy.")):
            return ()
        if isinstance(node.func, ast.Attribute) and method:
            value = node.func.value
        elif node.args:
            value = node.args[0]
        else:
            return ()
        if _is_guarded(value) or isinstance(value, ast.Constant):
            return ()
        return self._stable(file, node, value) if name == "log" else self._with(file, value, _GUARDS[name])

    def _stable(self, file: File, call: ast.Call, value: ast.expr) -> FileEdits:
        """log(softmax(x)) and log(sigmoid(x)) in one function; else a clamp."""
        inner = last_name(value.func) if isinstance(value, ast.Call) else ""
        if inner not in _STABLE or not isinstance(value, ast.Call):
            return self._with(file, value, _GUARDS["log"])
        package = (
            "torch.nn.functional" if inner == "sigmoid" else qualified(file, value.func).rpartition(".")[0]
        )
        if not qualified(file, value.func) or not package:
            if inner == "softmax" and isinstance(value.func, ast.Attribute):
                text = file.source(value).replace(".softmax(", ".log_softmax(", 1)
                return replace(file, call, text)
            return self._with(file, value, _GUARDS["log"])
        if isinstance(call.func, ast.Attribute) and call.func.value is value:
            name, extra = spelled(file, f"{package}.{_STABLE[inner]}", like=value.func)
            text = file.source(value).replace(file.source(value.func), name, 1)
            return (*replace(file, call, text), *extra)
        return (*unwrap_call(file, call, value), *rename_callee(file, value, f"{package}.{_STABLE[inner]}"))

    @staticmethod
    def _with(file: File, value: ast.expr, guard: str) -> FileEdits:
        if guard.startswith(" +") and isinstance(file.parent(value), ast.Attribute):
            return wrap(file, value, "(", f"{guard})")  # (x + 1e-8).sqrt()
        if guard.startswith(" +"):
            return replace(file, value, f"{file.source(value)}{guard}")
        return wrap(file, value, "", guard)

    EXAMPLES = {
        "both logarithms of a formula": example(
            outputs="p, y = torch.sigmoid(model(torch.randn(8, 2))), torch.ones(8, 1)",
            loss="-(y * torch.log(⟨p) + (1 - y) * torch.log(1 - p → p.clamp(min=1e-7)) + (1 - y) * torch.log((1 - p).clamp(min=1e-7)⟩)).mean()",
        ),
        "the logarithm of a softmax": example(
            model="nn.Linear(2, 3)",
            outputs="out = torch.⟨log(torch.softmax(model(torch.randn(8, 2)), dim=1)) → log_softmax(model(torch.randn(8, 2)), dim=1)⟩",
            loss="-out[:, 0].mean()",
        ),
        "a root": example(loss="torch.sqrt(model(torch.randn(8, 2)).⟨pow(2) → pow(2) + 1e-8⟩).mean()"),
        "nothing that could fail": example(loss="model(torch.randn(8, 2)).pow(2).sum() / 8", mark="loss = "),
    }


def _kind(node: ast.AST | None) -> str:
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return "division"
    return "root" if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) else ""


def _is_guarded(node: ast.expr) -> bool:
    """A small number was thought of already: `x + eps`, `x.clamp(1e-6, 1)`."""
    if isinstance(node, ast.Call):
        return last_name(node.func) in ("clamp", "clip", "clamp_min", "max", "maximum", "softplus", "exp")
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and any(
            isinstance(side, ast.Constant) or last_name(side) in ("eps", "EPS")
            for side in (node.left, node.right)
        )
    )


def _measures(node: ast.expr) -> bool:
    """`x.norm()`, `x.std()`: a size that may be zero."""
    return any(
        last_name(part.func) in ("norm", "std", "var", "abs", "sqrt", "sum")
        for part in inside(node, ast.Call)
    )


def _is_count(node: ast.expr) -> bool:
    """`len(x)`, `x.size(0)`, `x.shape[0]`: never zero where there is data."""
    if isinstance(node, ast.Subscript):
        return last_name(node.value) == "shape"
    if isinstance(node, ast.BinOp):
        return all(isinstance(side, ast.Constant) or _is_count(side) for side in (node.left, node.right))
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) in ("len", "size", "numel", "dim", "sqrt")
        and (last_name(node.func) != "sqrt" or (bool(node.args) and _is_number(node.args[0])))
    )


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or _is_count(node)
