"""Repairs of values in the data: missing ones, and targets far from one."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.data_holders import (
    Holder,
    forward_calls,
    holders,
    is_array,
    pairs,
    read_before,
    settled,
    training_inputs,
    training_targets,
)
from netmend.changes.data.standardise import own_class
from netmend.library.losses import DISTANCES
from netmend.library.optimisers import SCALE_FREE
from netmend.program.source.naming import new_variable, spelled
from netmend.program.source.writing import insert_after, wrap
from netmend.program.text.queries import last_name, own_nodes
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import LossFact, TargetFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_READERS = ("read_csv", "read_excel", "read_parquet", "read_table", "read_json", "read_sql")


_clean_example = partial(example, model="nn.Linear(3, 2)", loop="for start in range(0, 16, 8)")


class CleanData(Repair, code="R504", cures=("PRE-MISS-CLEAN",), knob="clean data", effort=BY_FACTS):
    """Remove the rows that hold values which are not finite, or fill such values with 0.

    One of them makes the loss NaN, and then every weight. Rows are removed from inputs and targets alike, before the data is split;
    filling keeps all rows, and after standardising a 0 is the mean.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        offered = [
            *self.change(case, "drop incomplete rows of the table", _complete_rows(case)),
            *self.change(case, "drop rows that are not finite", _finite_rows(case)),
        ]
        if case.component != "targets":
            filled = list(self.change(case, "fill with 0 what is not finite", _filled(case)))
            # Where evaluation meets such values too, or the parts have fixed sizes, no row may be missing.
            offered = [*filled, *offered] if _needs_every_row(case) else [*offered, *filled]
        yield from offered[:2]

    EXAMPLES = {
        "rows of both": _clean_example(
            data="""
                rng = np.random.default_rng(0)
                table, label = rng.normal(size=(24, 3)).astype(np.float32), np.arange(24) % 2
                table[3, 1] = np.nan
                + keep = np.isfinite(table).all(1)
                + table, label = table[keep], label[keep]
                ⟨x, y = torch.from_numpy(table)⟩, torch.from_numpy(label)""",
            backward="nn.functional.cross_entropy(model(x[start : start + 8]), y[start : start + 8])",
            end="""
                with torch.no_grad():
                    print((model(x[16:]).argmax(1) == y[16:]).float().mean())""",
        ),
        "filled": _clean_example(
            data="""
                rng = np.random.default_rng(0)
                table, label = rng.normal(size=(24, 3)).astype(np.float32), np.arange(24) % 2
                table[3, 1] = np.nan
                ⟨x, y = torch.from_numpy(table)⟩, torch.from_numpy(label)""",
            backward="nn.functional.cross_entropy(model(⟨x[start : start + 8] → torch.nan_to_num(x[start : start + 8])⟩), y[start : start + 8])",
            end="""
                with torch.no_grad():
                    print((model(⟨x[16:] + 0 → torch.nan_to_num(x[16:] + 0)⟩).argmax(1) == y[16:]).float().mean())""",
            nth=1,
        ),
    }


def _needs_every_row(case: Case) -> bool:
    if any(
        batch.phase == "evaluation" and any(not math.isfinite(row[0]) for row in batch.features)
        for batch in case.trace.batches
    ):
        held = [h for flow in training_inputs(case) for h in holders(flow)]
        return not held  # rows that are dropped before the split are gone from evaluation as well
    for file in case.code.files():
        for call in file.calls("random_split"):
            if len(call.args) > 1 and all(
                isinstance(part, ast.Constant) for part in getattr(call.args[1], "elts", [call.args[1]])
            ):
                return True
    return False


def _complete_rows(case: Case) -> FileEdits:
    for flow in (*training_inputs(case), *training_targets(case)):
        for step in flow:
            if isinstance(step.node, ast.Call) and last_name(step.node.func) in _READERS:
                return wrap(step.file, step.node, "", ".dropna()")
    return ()


def _finite_rows(case: Case) -> FileEdits:
    """`keep = np.isfinite(x).all(1)`, `x, y = x[keep], y[keep]` behind the lines that make both."""
    found = pairs(case)
    # The furthest of the pairs that stand beside the nearest: before anything is computed from the data.
    for inputs, targets in reversed([pair for pair in found if pair[0].block is found[0][0].block]):
        array = is_array(inputs.flow, inputs)
        last = max((settled(inputs), settled(targets)), key=lambda s: s.lineno)
        if array is None or inputs.name == targets.name or _is_table(inputs):
            continue
        if any(read_before(one, last) for one in (inputs, targets)):
            continue
        about_targets = case.component == "targets"
        name, extra = spelled(inputs.file, "numpy.isfinite" if array else "torch.isfinite")
        checked = targets.name if about_targets else inputs.name
        flat = _per_row(case, checked, about_targets)
        keep = new_variable(inputs.file, "keep", "finite")
        text = (
            f"{keep} = {name}({checked}){flat}\n"
            f"{inputs.name}, {targets.name} = {inputs.name}[{keep}], {targets.name}[{keep}]"
        )
        return (*insert_after(inputs.file, last, text), *extra)
    return ()


def _per_row(case: Case, name: str, about_targets: bool) -> str:
    model, loss = case.model, case.loss
    if about_targets:
        given = [o.shape for o in loss.operands if o.role == "target"] if loss is not None else []
        return "" if given and len(given[0]) == 1 else f".reshape(len({name}), -1).all(1)"
    plain = model is not None and model.input_shapes and len(model.input_shapes[0]) == 2
    return ".all(1)" if plain else f".reshape(len({name}), -1).all(1)"


def _is_table(held: Holder) -> bool:
    """`df[columns]`: a part of a data frame, which has another way."""
    return any(isinstance(s.node, ast.Call) and last_name(s.node.func) in _READERS for s in held.flow)


def _filled(case: Case) -> FileEdits:
    """`net(x)` → `net(torch.nan_to_num(x))`, wherever the model is called."""
    edits: FileEdits = ()
    calls = (*forward_calls(case, training=True), *forward_calls(case, training=False))
    for file, call in dict.fromkeys(calls):
        if call.args and not isinstance(call.args[0], ast.Starred):
            name, extra = spelled(file, "torch.nan_to_num")
            edits = (*edits, *wrap(file, call.args[0], f"{name}(", ")"), *extra)
    return edits


# Optimisers whose steps do not depend on the size of the gradient.
_SIMPLE = dict.fromkeys(DISTANCES, 1) | {"mse_loss": 2}  # the power of an error that they grow with


_targets_example = partial(
    example,
    begin="torch.manual_seed(0)\nx = torch.randn(16, 3)",
    model="nn.Linear(3, 1)",
    optimizer="torch.optim.Adam(model.parameters())",
    loss="nn.functional.mse_loss(model(x), y)",
)


class ScaleTargets(Repair, code="R503", cures=("PRE-MISS-SCALE", "ARC-INIT-BIAS"), effort=BY_FACTS):
    """Let the network work in standardised units and give its answers back in the unit of the targets.

    The output is multiplied by the standard deviation of the training targets and their mean is added, so that what is printed
    keeps its unit. For an optimiser whose steps grow with the gradient the loss is divided by its usual size as well.
    """

    # a spread within this factor of 1, or a mean within this part of the spread, needs no care
    near: float = 3.0

    def propose(self, case: Case) -> Iterator[Change]:
        target = self._target(case)
        if target is None or target.mean is None or not target.std:
            return
        factor = "" if 1 / self.near < target.std < self.near else f" * {_rounded(target.std)}"
        offset = "" if abs(target.mean) < target.std / self.near else f" + {_rounded(target.mean)}"
        if not factor and not offset:
            return
        unit = (factor + offset).replace("+ -", "- ")
        edits = _in_forward(case, unit) or _by_hook(case, unit) or _at_calls(case, unit)
        if edits and factor:
            edits = (*edits, *self._loss_in_unit(case, target))
        yield from self.change(
            case, f"scale the model's output to the targets: {unit.strip()}", edits, knob="target scale"
        )

    def _target(self, case: Case) -> TargetFact | None:
        """The targets of a regression, where they are what the fault is about."""
        named = case.trace.get(LossFact, case.component)
        loss = named or case.loss
        task = None if loss is None else next((t for t in case.trace.tasks if t.name == loss.name), None)
        if loss is None or task is None or task.kind != "regression":
            return None
        return case.trace.get(TargetFact, loss.name)

    def _loss_in_unit(self, case: Case, target: TargetFact) -> FileEdits:
        loss = case.loss
        if loss is None or (case.optimizer is not None and case.optimizer.kind in SCALE_FREE):
            return ()
        power = _SIMPLE.get(loss.criterion)
        size = target.constant_loss if power is None else (target.std or 1.0) ** power
        found = case.code.call_at(loss.backward)
        if found is None or not size or not isinstance(found[1].func, ast.Attribute):
            return ()
        return wrap(found[0], found[1].func.value, "(", f" / {_rounded(size)})")

    EXAMPLES = {
        "in forward": _targets_example(
            data="⟨y = 30000.0 + 4000.0 * x[:, :1].round()⟩\ny[::2], y[1::2] = 20000.0, 40000.0",
            layers="self.fc = nn.Linear(3, 1)",
            forward="return self.⟨fc(x) → fc(x) * 10000 + 30000⟩",
        ),
        "a model without a class": _targets_example(
            data="⟨y = 30000.0 + 4000.0 * x[:, :1].round()⟩\ny[::2], y[1::2] = 20000.0, 40000.0",
            model="nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))",
            helpers="+ model.register_forward_hook(lambda module, inputs, output: output * 10000 + 30000)",
        ),
        "plain gradient steps: the loss too": _targets_example(
            data="⟨y = 30000.0 + 4000.0 * x[:, :1].round()⟩\ny[::2], y[1::2] = 20000.0, 40000.0",
            helpers="+ model.register_forward_hook(lambda module, inputs, output: output * 10000 + 30000)",
            optimizer="torch.optim.SGD(model.parameters(), lr=1e-9)",
            loss="",
            step="""
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                ⟨loss → (loss / 1e+08)⟩.backward()
                optimizer.step()""",
        ),
        "targets of about unit size": _targets_example(
            data="""
                y = 30000.0 + 4000.0 * x[:, :1].round()
                y[::2], y[1::2] = 20000.0, 40000.0
                ⟨y = (y - y.mean()) / y.std()⟩"""
        ),
    }


def _rounded(value: float) -> str:
    short = f"{value:.3g}"
    return short if abs(value) < 1000 or abs(value) >= 1e7 else str(int(float(short)))


def _in_forward(case: Case, unit: str) -> FileEdits:
    found = None if case.model is None else own_class(case, case.model)
    if found is None:
        return ()
    file, _, forward = found
    returns = [node for node in own_nodes(forward) if isinstance(node, ast.Return)]
    value = returns[0].value if len(returns) == 1 else None
    return (
        ()
        if value is None or isinstance(value, ast.Tuple | ast.Dict | ast.List)
        else wrap(file, value, "", unit)
    )


def _by_hook(case: Case, unit: str) -> FileEdits:
    """For a model without a class of its own: a hook behind the line that makes it."""
    made = None if case.model is None else case.code.call_at(case.model.created)
    if made is None:
        return ()
    file, call = made
    statement = file.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return ()
    target = statement.targets[0]
    if not isinstance(target, ast.Name | ast.Attribute):
        return ()
    hook = f"register_forward_hook(lambda module, inputs, output: output{unit})"
    return insert_after(file, statement, f"{file.source(target)}.{hook}")


def _at_calls(case: Case, unit: str) -> FileEdits:
    calls = dict.fromkeys((*forward_calls(case, training=True), *forward_calls(case, training=False)))
    return tuple(edit for file, call in calls for edit in wrap(file, call, "(", f"{unit})"))
