"""What a layer is given and what it takes: missing axes, maps that were not flattened, sizes as they are written."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack
from netmend.diagnose.measures.ending import layer_before
from netmend.program.source.writing import united, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside
from netmend.vocabulary import ModelFact, ModuleFact
from netmend.vocabulary.change import FileEdits


def axes_of(layer: ModuleFact) -> int:
    """How many axes a convolution works on, the batch included; 0 for other layers."""
    return int(layer.kind[-2]) + 2 if layer.kind.startswith("Conv") and layer.kind[-2:-1].isdigit() else 0


def lacks_axes(layer: ModuleFact) -> bool:
    return bool(layer.input_shapes) and len(layer.input_shapes[0]) < axes_of(layer)


def needs_flattening(case: Case, layer: ModuleFact) -> bool:
    """A linear layer behind convolutions that is given the whole feature map, or images of which it takes all pixels."""
    given = layer.input_shapes[0] if layer.input_shapes else ()
    if layer.kind != "Linear" or len(given) < 3:
        return False
    if math.prod(given[1:]) == layer.settings.get("in_features"):
        return True
    before = layer_before(case.trace, layer)
    return len(given) > 3 and before is not None and before.kind.startswith("Conv")


def reformed(case: Case, layer: ModuleFact, after: str) -> FileEdits:
    """Put a method call behind what a layer is given: around the argument in forward(), or wherever the model is called."""
    fact: ModuleFact | None = layer
    while fact is not None and in_stack(case, fact):
        holder = case.trace.get(ModuleFact, fact.name.rpartition(".")[0])
        if holder is not None and holder.input_shapes != fact.input_shapes:
            return ()  # something comes before it in the stack
        fact = holder
    if fact is None:
        return ()
    found = case.code.call_at(fact.called)
    if found is None or not found[1].args:
        return ()
    file, call = found
    if case.trace.get(ModelFact, fact.name) is None:
        return wrap(file, call.args[0], "", after)
    return united(wrap(other, one.args[0], "", after) for other, one in _calls_like(case, file, call))


def _calls_like(case: Case, file: File, call: ast.Call) -> Iterator[tuple[File, ast.Call]]:
    """All calls of the same model in a file: training and evaluation are given the same form."""
    name = ast.dump(call.func)
    for node in inside(file.tree, ast.Call):
        if ast.dump(node.func) == name and node.args:
            yield file, node


def axes_of_norm(layer: ModuleFact, text: str) -> str:
    """`expected 4D input (got 2D input)`: a BatchNorm2d that should be a BatchNorm1d."""
    if not layer.kind.startswith(("BatchNorm", "InstanceNorm")) or "expected" not in text:
        return ""
    axes = {2: "1", 3: "1", 4: "2", 5: "3"}.get(len(layer.input_shapes[0]), "")
    return axes if "D input" in text and axes and not layer.kind.endswith(f"{axes}d") else ""


def doubled(case: Case, file: File, layer: ModuleFact, value: ast.expr, width: int) -> str:
    """`hidden` → `2 * hidden` behind a recurrent layer that runs in both directions."""
    before = layer_before(case.trace, layer)
    both = before is not None and bool(before.settings.get("bidirectional"))
    fits = (
        both
        and before is not None
        and before.settings.get("hidden_size") == layer.settings.get("in_features")
    )
    return f"2 * {file.source(value)}" if fits and isinstance(value, ast.Name | ast.Attribute) else ""


def product_of(case: Case, file: File, layer: ModuleFact, value: ast.expr, width: int) -> str:
    """`6 * 5 * 5` → `6 * 4 * 4`: channels times the side of the map, as it was written."""
    parts: list[ast.expr] = []
    node = value
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        parts.insert(0, node.right)
        node = node.left
    parts.insert(0, node)
    before = layer_before(case.trace, layer)
    channels = (
        before.output_shapes[0][1] if before is not None and len((*before.output_shapes, ())[0]) > 2 else 0
    )
    if not 2 <= len(parts) <= 3 or not channels or width % channels:
        return ""
    side = math.isqrt(width // channels)
    if len(parts) == 2:
        return f"{file.source(parts[0])} * {width // channels}"
    return f"{file.source(parts[0])} * {side} * {side}" if side * side * channels == width else ""
