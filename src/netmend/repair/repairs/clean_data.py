"""R504."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.data.data_holders import (
    Holder,
    first_use,
    forward_calls,
    fresh,
    holders,
    is_array,
    pairs,
    settled,
    training_inputs,
    training_targets,
)
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after, wrap
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_READERS = ("read_csv", "read_excel", "read_parquet", "read_table", "read_json", "read_sql")


@register
@dataclass(frozen=True)
class CleanData:
    """Remove the rows that hold values which are not finite, or fill such values with 0.

    One of them makes the loss NaN, and then every weight. Rows are removed from inputs and targets alike, before the data is split;
    filling keeps all rows, and after standardising a 0 is the mean.
    """

    code: ClassVar[str] = "R504"
    cures: ClassVar[tuple[str, ...]] = ("PRE-MISS-CLEAN",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        offered = [
            *change(self, case, "drop incomplete rows of the table", _complete_rows(case), knob="clean data"),
            *change(self, case, "drop rows that are not finite", _finite_rows(case), knob="clean data"),
        ]
        if not (case.fault is not None and case.fault.component == "targets"):
            filled = list(
                change(self, case, "fill with 0 what is not finite", _filled(case), knob="clean data")
            )
            # Where evaluation meets such values too, or the parts have fixed sizes, no row may be missing.
            offered = [*filled, *offered] if _needs_every_row(case) else [*offered, *filled]
        yield from offered[:2]

    EXAMPLES: ClassVar[tuple[Example, ...]] = ()


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
        if any(_read_before(one, last) for one in (inputs, targets)):
            continue
        about_targets = case.fault is not None and case.fault.component == "targets"
        name, extra = spelled(inputs.file, "numpy.isfinite" if array else "torch.isfinite")
        checked = targets.name if about_targets else inputs.name
        flat = _per_row(case, checked, about_targets)
        keep = fresh(inputs.file, "keep", "finite")
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


def _read_before(held: Holder, limit: ast.stmt) -> bool:
    use = first_use(held.block, settled(held), held.name)
    return use is not None and use.lineno <= limit.lineno and use is not limit


def _is_table(held: Holder) -> bool:
    """`df[columns]`: a part of a data frame, which has another way."""
    return any(isinstance(s.node, ast.Call) and last_name(s.node.func) in _READERS for s in held.flow)


def _filled(case: Case) -> FileEdits:
    """`net(x)` → `net(torch.nan_to_num(x))`, wherever the model is called."""
    edits: FileEdits = ()
    seen: list[ast.Call] = []
    for file, call in (*forward_calls(case, training=True), *forward_calls(case, training=False)):
        if not call.args or isinstance(call.args[0], ast.Starred) or any(call is other for other in seen):
            continue
        seen.append(call)
        name, extra = spelled(file, "torch.nan_to_num")
        edits = (*edits, *wrap(file, call.args[0], f"{name}(", ")"), *extra)
    return edits


_example = partial(example, model="nn.Linear(3, 2)", loop="for start in range(0, 16, 8)")


CleanData.EXAMPLES = (
    _example(
        "rows of both",
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
    _example(
        "filled",
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
)
