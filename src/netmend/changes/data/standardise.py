"""Standardising data where it is held, with the statistics of the training part; and at the model's input."""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, replace

from netmend.changes.case import Case
from netmend.changes.data.data_holders import (
    Holder,
    evaluation_inputs,
    first_use,
    holder,
    read_before,
    settled,
    training_inputs,
)
from netmend.library.layers import NORM_OF_RANK
from netmend.program.source.naming import new_attribute, new_variable, spelled
from netmend.program.source.writing import add_argument_first, insert_after, insert_before
from netmend.program.text.file import File
from netmend.program.text.queries import Function, holds, inside, last_name, methods, without_text
from netmend.vocabulary import ModelFact, ModuleFact
from netmend.vocabulary.change import FileEdits

_OWN_NAMES = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)


@dataclass(frozen=True)
class Scale:
    """How large the inputs of training are, from the batches that were looked at."""

    shape: tuple[int, ...]  # of one batch
    minimum: float
    maximum: float
    mean: float
    std: float
    still: bool  # some feature never varies

    @property
    def pixels(self) -> bool:
        """Bytes that stand for brightness: 0 to 255, many of them."""
        many = len(self.shape) >= 3 or (len(self.shape) == 2 and self.shape[1] >= 64)
        return many and self.minimum >= 0 and 32 < self.maximum <= 255

    @property
    def unit(self) -> tuple[str, str]:
        """What to write before and behind pixels so that they get mean 0 and standard deviation 1."""
        mean, std = round(self.mean / 255, 2), max(round(self.std / 255, 2), 0.01)
        return "(", f" / 255 - {mean:g}) / {std:g}"


def input_scale(case: Case) -> Scale | None:
    model = case.model
    shape = model.input_shapes[0] if model is not None and model.input_shapes else ()
    rows = [
        row
        for batch in case.trace.batches
        if batch.phase == "training" and batch.feature_axis in ("feature", "channel")
        for row in batch.features
    ]
    if not rows or len(shape) < 2:
        return None
    lowest, highest = min(row[2] for row in rows), max(row[3] for row in rows)
    mean = sum(row[0] for row in rows) / len(rows)
    square = sum(row[0] ** 2 + row[1] ** 2 for row in rows) / len(rows)
    std = max(square - mean**2, 0.0) ** 0.5
    return Scale(shape, lowest, highest, mean, std, any(row[1] == 0 for row in rows))


def held_alike(case: Case) -> tuple[Holder, list[Holder]] | None:
    """The name of the training inputs and those of the evaluation inputs, where all of them stand in one block.

    The statement of each is the last one that gives it values.
    """
    first: Holder | None = None
    others: dict[tuple[str, ast.stmt], Holder] = {}
    for flow in (*training_inputs(case), *evaluation_inputs(case)):
        held = holder(flow)
        if held is None or (first is not None and held.block is not first.block):
            return None
        held = replace(held, statement=settled(held))  # what a loop fills has no statistics before it is full
        first = first or held
        if held.name != first.name or held.statement is not first.statement:
            others[(held.name, held.statement)] = held
    if first is None:
        return None
    return first, list(others.values())


def standardised(case: Case, scale: Scale) -> FileEdits:
    """`mean, std = x.mean(0), x.std(0)` behind the line that makes the training inputs, and all inputs standardised with it."""
    found = held_alike(case)
    if found is None:
        return ()
    first, others = found
    file, name = first.file, first.name
    if any(other.name == name for other in others):
        return ()  # the same name, bound twice
    layer = first_layer(case)
    axes = {2: "0", 3: "" if layer is not None and layer.kind == "Conv1d" else "(0, 1)"}.get(
        len(scale.shape), ""
    )
    mean, std = (
        new_variable(file, "mean", "x_mean", "input_mean"),
        new_variable(file, "std", "x_std", "input_std"),
    )
    tiny = " + 1e-8" if scale.still else ""
    part = name if first.part is None else file.source(first.part)
    if not others and first.part is None and evaluation_inputs(case):
        return ()  # the statistics would be those of all data
    lines = [f"{mean}, {std} = {part}.mean({axes}), {part}.std({axes}){tiny}"]
    here = [other for other in others if other.statement.lineno <= first.statement.lineno]
    names = [name, *(other.name for other in here)]
    lines.append(f"{', '.join(names)} = {', '.join(f'({one} - {mean}) / {std}' for one in names)}")
    use = first_use(first.block, first.statement, name)
    if use is None or any(read_before(other, first.statement) for other in here):
        return ()
    edits = insert_after(file, first.statement, "\n".join(lines))
    for statement in dict.fromkeys(other.statement for other in others if other not in here):
        names = [other.name for other in others if other.statement is statement]
        text = f"{', '.join(names)} = {', '.join(f'({one} - {mean}) / {std}' for one in names)}"
        edits = (*edits, *insert_after(file, statement, text))
    return edits


def norm_first(case: Case, scale: Scale) -> FileEdits:
    """A batch norm as the first layer of the model: it learns the statistics of the training inputs."""
    model = case.model
    if model is None or len(scale.shape) not in NORM_OF_RANK or _meets_one_sample(case, scale):
        return ()
    layer = first_layer(case)
    over_last = len(scale.shape) == 3 and not (layer is not None and layer.kind == "Conv1d")
    width = scale.shape[-1] if over_last else scale.shape[1]
    if model.kind == "Sequential":
        return () if over_last else _first_in_sequential(case, model, layer, width, len(scale.shape))
    return _first_in_class(case, model, layer, width, len(scale.shape), over_last)


def norm_before(case: Case, layer: ModuleFact) -> FileEdits:
    """A batch norm before a layer that begins a Sequential."""
    found = case.code.call_at(layer.created)
    shape = layer.input_shapes[0] if layer.input_shapes else ()
    around = None if found is None else found[0].parent(found[1])
    if found is None or len(shape) != 2 or shape[0] == 1 or not isinstance(around, ast.Call):
        return ()
    file, call = found
    if last_name(around.func) != "Sequential" or around.args[:1] != [call]:
        return ()
    name, extra = spelled(file, "torch.nn.BatchNorm1d", like=around.func)
    text = f"{name}({_width_text(file, case, layer, shape[1], around)})"
    return (*add_argument_first(file, around, text), *extra)


def first_layer(case: Case) -> ModuleFact | None:
    """The layer of the model that runs first."""
    model = case.model
    return next(
        (
            m
            for m in case.trace.layers()
            if m.order is not None and model is not None and m.model == model.name
        ),
        None,
    )


def _meets_one_sample(case: Case, scale: Scale) -> bool:
    """A batch of one sample has no statistics: batch norm refuses it in training."""
    if scale.shape[0] == 1 and len(scale.shape) == 2:
        return True
    return any(b.size == 1 and b.phase == "training" for b in case.trace.batches) and len(scale.shape) == 2


def _width_text(file: File, case: Case, layer: ModuleFact | None, width: int, place: ast.AST) -> str:
    """The width as the first layer is given it, where the same names mean the same at a place."""
    found = case.code.call_at(layer.created) if layer is not None else None
    if found is None or layer is None or found[0] is not file:
        return str(width)
    declared = layer.settings.get("in_features", layer.settings.get("in_channels"))
    call = found[1]
    given = case.sources.argument(call, "in_features", 0) or case.sources.argument(call, "in_channels", 0)
    if declared != width or not isinstance(given, ast.Name | ast.Attribute):
        return str(width)
    return file.source(given) if _holds_at(file, given, call, place) else str(width)


def _holds_at(file: File, given: ast.expr, call: ast.Call, place: ast.AST) -> bool:
    """Whether an expression in a call is worth the same at a place: nothing in the function binds its name."""
    if holds(place, call):
        between = itertools.takewhile(lambda above: above is not place, file.parents(call))
        return not any(isinstance(above, _OWN_NAMES) for above in between)
    function = file.function(call)
    if function is None or file.function(place) is not function:
        return False
    root = given
    while isinstance(root, ast.Attribute):
        root = root.value
    own = {id(part) for part in inside(function.args, ast.arg, ast.expr)}
    bound = {node.arg for node in inside(function, ast.arg) if id(node) not in own} | {
        node.id for node in inside(function, ast.Name) if not isinstance(node.ctx, ast.Load)
    }
    # What hangs on `self` may be set behind the place.
    return isinstance(root, ast.Name) and root.id not in bound and root.id != "self"


def _first_in_sequential(
    case: Case, model: ModelFact, layer: ModuleFact | None, width: int, rank: int
) -> FileEdits:
    found = case.code.call_at(model.created)
    if found is None or last_name(found[1].func) != "Sequential" or not found[1].args:
        return ()
    file, call = found
    first = call.args[0]
    if (isinstance(first, ast.Call) and last_name(first.func) == "OrderedDict") or _is_indexed(case, model):
        return ()
    name, extra = spelled(file, f"torch.nn.{NORM_OF_RANK[rank]}", like=call.func)
    text = f"{name}({_width_text(file, case, layer, width, call)})"
    return (*add_argument_first(file, call, text), *extra)


def _is_indexed(case: Case, model: ModelFact) -> bool:
    """`net[0].weight`: a new first layer would move the others."""
    for file in case.code.files():
        for node in inside(file.tree, ast.Subscript):
            if last_name(node.value) == model.name.rpartition(".")[2] and isinstance(
                node.slice, ast.Constant | ast.Slice
            ):
                return True
    return False


def _first_in_class(
    case: Case, model: ModelFact, layer: ModuleFact | None, width: int, rank: int, over_last: bool
) -> FileEdits:
    found = own_class(case, model)
    if found is None:
        return ()
    file, init, forward = found
    start = _after_super(init)
    argument = forward.args.args[1].arg if len(forward.args.args) > 1 else None
    body = without_text(forward)
    if start is None or argument is None or not body:
        return ()
    name, extra = spelled(file, f"torch.nn.{NORM_OF_RANK[rank]}")
    attribute = new_attribute(file.tree, "input_norm")
    made = f"self.{attribute} = {name}({_width_text(file, case, layer, width, start)})"
    call = f"self.{attribute}({argument})"
    if over_last:
        call = f"self.{attribute}({argument}.transpose(1, 2)).transpose(1, 2)"
    return (*insert_after(file, start, made), *insert_before(file, body[0], f"{argument} = {call}"), *extra)


def own_class(case: Case, model: ModelFact) -> tuple[File, Function, Function] | None:
    """The class of a model in the program: its file, its `__init__` and its `forward`."""
    found = case.code.definition(model.kind, ast.ClassDef)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return None
    own = methods(found[1])
    init, forward = own.get("__init__"), own.get("forward")
    return None if init is None or forward is None else (found[0], init, forward)


def _after_super(init: Function) -> ast.stmt | None:
    """The statement that sets up the base class: `super().__init__()`, `nn.Module.__init__(self)`."""
    for statement in init.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and last_name(call.func) == "__init__":
            return statement
    return None
