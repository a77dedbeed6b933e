"""R508."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change, FileEdits

# Functions over one axis; the axis is their first argument as a method, the second as a function.
_REDUCTIONS = (
    "mean",
    "sum",
    "max",
    "min",
    "amax",
    "amin",
    "std",
    "var",
    "logsumexp",
    "median",
    "prod",
    "cumsum",
)
_PICKS = ("select", "index_select", "narrow", "unbind")


@register
@dataclass(frozen=True)
class IndexAxis:
    """Let an index or a reduction run over the axis behind that of the samples.

    `out[-1]` becomes `out[:, -1]`, `x.mean(0)` becomes `x.mean(1)`: with the samples first, the former mix different samples.
    """

    code: ClassVar[str] = "R508"
    cures: ClassVar[tuple[str, ...]] = ("TSR-INDEX", "TSR-NORM-AXIS")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        found = None if case.fault is None else case.code.statement_at(case.fault.site)
        if found is None or case.fault is None:
            return
        file, statement = found
        exact = None if case.fault.site is None else file.node_at(case.fault.site)
        for node in inside(exact if isinstance(exact, ast.expr) else statement, ast.expr):
            edits = _index(file, node) if isinstance(node, ast.Subscript) else ()
            if isinstance(node, ast.Call):
                edits = _reduction(file, node)
            if edits:
                knob = f"axis at line {node.lineno}"
                yield from change(self, case, f"{file.source(node)}: the next axis", edits, knob=knob)
                return

    EXAMPLES: ClassVar[tuple[Example, ...]] = ()


def _is_number(node: ast.expr) -> bool:
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    return (
        isinstance(value, ast.Constant) and isinstance(value.value, int) and not isinstance(value.value, bool)
    )


def _index(file: File, node: ast.Subscript) -> FileEdits:
    """`out[-1]` → `out[:, -1]`, `out[-1, :, :]` → `out[:, -1, :]`."""
    if not isinstance(node.ctx, ast.Load) or isinstance(node.value, ast.Subscript):
        return ()  # `batch[0][1]` picks out of a list
    index = node.slice
    if _is_number(index):
        return replace(file, index, f":, {file.source(index)}")
    if isinstance(index, ast.Tuple) and len(index.elts) >= 2:
        first, second = index.elts[:2]
        open_slice = isinstance(second, ast.Slice) and second.lower is None and second.upper is None
        if _is_number(first) and open_slice:
            rest = "".join(f", {file.source(part)}" for part in index.elts[2:])
            return replace(file, index, f":, {file.source(first)}{rest}")
    return ()


def _reduction(file: File, call: ast.Call) -> FileEdits:
    """`x.mean(0)`, `torch.mean(x, dim=0)`."""
    name = last_name(call.func)
    if name not in (*_REDUCTIONS, *_PICKS):
        return ()
    given = [keyword.value for keyword in call.keywords if keyword.arg in ("dim", "axis")]
    if not given:
        given = [argument for argument in call.args[:2] if _is_number(argument)][:1]
    if given and isinstance(given[0], ast.Constant) and given[0].value == 0:
        return replace(file, given[0], "1")
    return ()


_example = partial(
    example,
    data="torch.manual_seed(0)",
    layers="self.rnn = nn.GRU(3, 8, batch_first=True)\nself.fc = nn.Linear(8, 2)",
    helpers="x, y = torch.randn(5, 5, 3), torch.arange(5) % 2",
    backward="nn.functional.cross_entropy(model(x), y)",
)


IndexAxis.EXAMPLES = (
    _example("the last step", forward="out, _ = self.rnn(x)\nreturn self.fc(out[⟨- → :, -⟩1])"),
    _example("all axes written", forward="out, _ = self.rnn(x)\nreturn self.fc(out[⟨-1, : → :, -1⟩, :])"),
    _example("a mean over samples", forward="out, _ = self.rnn(x)\nreturn self.fc(out.mean(dim=⟨0 → 1⟩))"),
    _example("samples are kept apart", forward="out, _ = self.rnn(x)\n⟨return self.fc(out[:, -1])⟩"),
)
