"""Repairs of recurrent layers: the order of their axes, and which step is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.library.layers import RECURRENT
from netmend.localise.lines.head_lines import creation_of
from netmend.program.source.numbers import literal
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, uses_of
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact, Site
from netmend.vocabulary.change import Change, FileEdits

_ATTENTION = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")


_layout_example = partial(
    example,
    data="torch.manual_seed(0)",
    forward="out, _ = self.rnn(x)\nreturn self.fc(out[:, -1])",
    helpers="x, y = torch.randn(16, 5, 3), torch.arange(16) % 2",
    backward="nn.functional.cross_entropy(model(x), y)",
    component="model.rnn",
)


class RecurrentLayout(Repair, code="R507", cures=("INP-FORMAT-RNN",)):
    """Create a recurrent or attention layer with `batch_first=True`.

    For data whose first axis holds the samples. Where the last step was taken as `out[-1]`, it becomes `out[:, -1]`. The other
    way, transposing the input of the layer and its output, comes second.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        site = _layer_site(case)
        found = case.code.call_at(site)
        if site is None or found is None:
            return
        kind = last_name(found[1].func)
        position = 4 if kind in RECURRENT else None
        faces = set_argument(case.code, site, "batch_first", "True", position, case.arguments)
        module = case.trace.get(ModuleFact, case.component)
        if module is not None and module.settings.get("batch_first") is True:
            return
        if faces.edits:
            further = _last_steps(case, module)
            faces = Faces((*faces.edits, *further), (*faces.forced, *further) if faces.forced else ())
        knob = f"{module.name if module is not None else kind} layout"
        yield from self.change(case, f"{kind} with batch_first=True", faces, knob=knob)
        if kind in RECURRENT:
            yield from self.change(case, f"time first for {kind}", _transposed(case, module), knob=knob)

    EXAMPLES = {
        "samples first": _layout_example(
            layers="self.rnn = nn.GRU(3, ⟨8 → 8, batch_first=True⟩)\nself.fc = nn.Linear(8, 2)"
        ),
        "turned for the layer": _layout_example(
            layers="self.rnn = ⟨nn.GRU(3, 8)⟩\nself.fc = nn.Linear(8, 2)",
            forward="out, _ = self.rnn⟨(x) → (x.transpose(0, 1))⟩\nreturn self.fc(out[⟨:, - → -⟩1])",
            nth=1,
        ),
        "samples first already": _layout_example(
            layers="self.rnn = ⟨nn.GRU(3, 8, batch_first=True)⟩\nself.fc = nn.Linear(8, 2)"
        ),
    }


def _layer_site(case: Case) -> Site | None:
    if case.fault is None:
        return None
    for site in (case.site, creation_of(case.trace, case.component)):
        found = case.code.call_at(site)
        if found is not None and last_name(found[1].func) in (*RECURRENT, *_ATTENTION):
            return site
    return None


def _call_of(case: Case, module: ModuleFact | None) -> tuple[File, ast.Call] | None:
    """The line in forward that calls the layer."""
    if module is None:
        return None
    attribute = module.name.rpartition(".")[2]
    found = None if module.called is None else case.code.call_at(module.called)
    if found is not None and last_name(found[1].func) == attribute:
        return found
    file = None if module.called is None else case.code.file(module.called.file)
    if file is None or module.called is None:
        return None
    for call in file.calls(attribute):
        if call.lineno <= module.called.line <= (call.end_lineno or call.lineno):
            return file, call
    return None


def _outputs(file: File, call: ast.Call) -> str | None:
    """`out` of `out, h = self.rnn(x)`."""
    statement = file.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return None
    target = statement.targets[0]
    if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
        return target.elts[0].id
    return None


def _last_steps(case: Case, module: ModuleFact | None) -> FileEdits:
    """`out[-1]` → `out[:, -1]` in the function that calls the layer."""
    found = _call_of(case, module)
    name = None if found is None else _outputs(*found)
    function = None if found is None else found[0].function(found[1])
    if found is None or name is None or function is None:
        return ()
    read = [node for node in inside(function, ast.Subscript) if isinstance(node.value, ast.Name)]
    steps = [node.slice for node in read if last_name(node.value) == name and literal(node.slice) is not None]
    return tuple(edit for step in steps for edit in replace(found[0], step, f":, {found[0].source(step)}"))


def _transposed(case: Case, module: ModuleFact | None) -> FileEdits:
    """`out, h = self.rnn(x)` → `out, h = self.rnn(x.transpose(0, 1))`, with the output turned back where it is used batch first."""
    found = _call_of(case, module)
    name = None if found is None else _outputs(*found)
    function = None if found is None else found[0].function(found[1])
    if found is None or function is None or name is None or not found[1].args or len(found[1].args) > 1:
        return ()
    file, call = found
    if bool(uses_of(function, name)):
        used = [
            node
            for node in inside(function, ast.Subscript)
            if isinstance(node.value, ast.Name) and node.value.id == name
        ]
        edits = wrap(file, call.args[0], "", ".transpose(0, 1)")
        for node in used:
            index = node.slice
            is_last = isinstance(index, ast.Tuple) and len(index.elts) in (2, 3)
            if is_last and isinstance(index, ast.Tuple) and isinstance(index.elts[0], ast.Slice):
                edits = (*edits, *replace(file, node, f"{name}[{file.source(index.elts[1])}]"))
        return edits if used else ()
    return ()


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


_index_example = partial(
    example,
    data="torch.manual_seed(0)",
    layers="self.rnn = nn.GRU(3, 8, batch_first=True)\nself.fc = nn.Linear(8, 2)",
    helpers="x, y = torch.randn(5, 5, 3), torch.arange(5) % 2",
    backward="nn.functional.cross_entropy(model(x), y)",
)


class IndexAxis(Repair, code="R508", cures=("TSR-INDEX", "TSR-NORM-AXIS")):
    """Let an index or a reduction run over the axis behind that of the samples.

    `out[-1]` becomes `out[:, -1]`, `x.mean(0)` becomes `x.mean(1)`: with the samples first, the former mix different samples.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = case.code.statement_at(case.site)
        if found is None or case.fault is None:
            return
        file, statement = found
        exact = None if case.site is None else file.node_at(case.site)
        for node in inside(exact if isinstance(exact, ast.expr) else statement, ast.expr):
            edits = _index(file, node) if isinstance(node, ast.Subscript) else ()
            if isinstance(node, ast.Call):
                edits = _reduction(file, node)
            if edits:
                knob = f"axis at line {node.lineno}"
                yield from self.change(case, f"{file.source(node)}: the next axis", edits, knob=knob)
                return

    EXAMPLES = {
        "the last step": _index_example(forward="out, _ = self.rnn(x)\nreturn self.fc(out[⟨- → :, -⟩1])"),
        "all axes written": _index_example(
            forward="out, _ = self.rnn(x)\nreturn self.fc(out[⟨-1, : → :, -1⟩, :])"
        ),
        "a mean over samples": _index_example(
            forward="out, _ = self.rnn(x)\nreturn self.fc(out.mean(dim=⟨0 → 1⟩))"
        ),
        "samples are kept apart": _index_example(
            forward="out, _ = self.rnn(x)\n⟨return self.fc(out[:, -1])⟩"
        ),
    }


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
