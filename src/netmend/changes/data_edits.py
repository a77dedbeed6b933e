"""Training data in the source: lines put where a program holds it as a whole, before it is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.data.data_holders import (
    Holder,
    evaluation_inputs,
    holders,
    is_array,
    pairs,
    settled,
    training_inputs,
    training_targets,
)
from netmend.changes.data.data_origins import Flow
from netmend.changes.data.preparation import Preparation, preparations
from netmend.changes.data.standardise import first_layer
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after, insert_before
from netmend.program.text.queries import last_name
from netmend.vocabulary.change import FileEdits

_HELD_OUT = re.compile(r"(^|_)(val|valid|validation|test|te|dev|eval|holdout)(_|\d|$)", re.IGNORECASE)
_WHOLE = ("randint", ".long()", ".int()", "LongTensor", "int64", "int32", "torch.int", "torch.long", "bool")
_REAL = (".float()", "float32", "float64", "FloatTensor", "torch.float", ".double()")


def targets(case: Case) -> Holder | None:
    """The name nearest to the loss that holds all training targets; None where they are the inputs themselves."""
    given = {
        (id(step.statement), step.name)
        for flow in training_inputs(case)
        for step in flow
        if step.kind == "bound"
    }
    found = next((held for flow in training_targets(case) for held in outside(case, flow)), None)
    return None if found is None or (id(found.statement), found.name) in given else found


def inputs(case: Case) -> Holder | None:
    """The name nearest to the model that holds all training inputs; None for ids, which cannot be scaled."""
    if not takes_amounts(case):
        return None
    return next((held for flow in training_inputs(case) for held in outside(case, flow)), None)


def outside(case: Case, flow: Flow) -> Iterator[Holder]:
    """Names that hold the data once it is made; within the function that makes it, other things may depend on them."""
    models = {(site.file, site.line) for model in case.trace.models if (site := model.created) is not None}
    handed = next((index for index, step in enumerate(flow) if step.kind == "returned"), len(flow))
    known = {id(step.statement) for step in flow[:handed] if step.kind == "bound"}
    return (
        held
        for held in holders(flow)
        if id(held.statement) in known and (held.file.file, held.statement.lineno) not in models
    )


def takes_amounts(case: Case) -> bool:
    """Whether the model is given real numbers, not ids that it looks up."""
    layer = first_layer(case)
    return layer is not None and "Embedding" not in layer.kind


def evaluated(case: Case) -> list[Holder] | None:
    """The names that hold inputs of evaluation and no training data; None where one cannot be told."""
    trained = {
        (step.file.file, id(step.statement), step.name)
        for flow in training_inputs(case)
        for step in flow
        if step.kind == "bound"
    }
    found: dict[tuple[str, int], Holder] = {}
    for flow in evaluation_inputs(case):
        held = next(outside(case, flow), None)
        if held is None:
            return None
        if (held.file.file, id(held.statement), held.name) not in trained:
            if held.part is not None:
                return None
            found[held.name, id(held.statement)] = held
    return list(found.values())


def is_made(case: Case, held: Holder) -> bool:
    return any(other.statement is held.statement for other in outside(case, held.flow))


def scaling(flow: Flow, case: Case) -> Iterator[Preparation]:
    """`(x - mean) / std`, `x / 255`, `scaler.transform(x)` on the way to the model."""
    for each in preparations(case, flow):
        value = each.value
        if isinstance(value, ast.Call):
            yield from [each] if last_name(value.func) in ("transform", "fit_transform") else []
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            shifted = isinstance(value.left, ast.BinOp) and isinstance(value.left.op, ast.Sub)
            limit = value.right.value if isinstance(value.right, ast.Constant) else None
            large = isinstance(limit, int | float) and limit >= 8 and value.left is each.data
            if shifted or large:
                yield each


def part_of(held: Holder) -> str:
    """What holds the training rows so that writing to it changes them: `x[:800]` for a slice of a name."""
    part = held.part
    if part is not None and isinstance(part.slice, ast.Slice):
        return held.file.source(part)
    return held.name


def put(held: Holder, *lines: str, beside: Holder | None = None) -> FileEdits:
    """Lines before the data is first used on its way to the model, so that nothing else is computed from what they change.

    `beside`: another name of the same block that the lines need or change as well.
    """
    block, both = held.block, [held, *([] if beside is None else [beside])]
    last = max((settled(each) for each in both), key=block.index)
    uses = [each.used for each in both if each.used in block]
    first = min(uses, key=block.index) if uses else None
    if first is not None and block.index(first) > block.index(last):
        return insert_before(held.file, first, "\n".join(lines))
    return insert_after(held.file, last, "\n".join(lines))


def random_rows(held: Holder) -> tuple[str, str, FileEdits]:
    """How uniform numbers and permutations are drawn here, for tensors or arrays; and the imports that this needs."""
    array = bool(is_array(held.flow, held))
    uniform, first = spelled(held.file, "numpy.random.rand" if array else "torch.rand")
    order, second = spelled(held.file, "numpy.random.permutation" if array else "torch.randperm")
    return uniform, order, tuple(dict.fromkeys((*first, *second)))


def rows(case: Case) -> Iterator[tuple[Holder, Holder]]:
    """Names of training inputs and targets of which rows may be taken away: all of both is used for training."""
    for given, wanted in pairs(case):
        whole = (
            given.part is None and wanted.part is None and given.file is wanted.file and is_made(case, given)
        )
        if whole and not evaluates_too(case, given):
            yield given, wanted


def evaluates_too(case: Case, held: Holder) -> bool:
    """Whether evaluation data is cut from the same name."""
    return any(
        step.kind == "bound" and step.statement is held.statement and step.name == held.name
        for flow in evaluation_inputs(case)
        for step in flow
    )


def amounts(case: Case) -> Holder | None:
    """The same as `inputs`, where noise or a missing value can be written into it and would be training data."""
    held = inputs(case)
    if held is None or _HELD_OUT.search(held.name):
        return None
    made = held.file.source(held.statement)
    if "requires_grad" in made:
        return None  # nothing can be written into a leaf that gradients are wanted of
    whole = any(text in made for text in _WHOLE) and not any(text in made for text in _REAL)
    return None if whole else held
