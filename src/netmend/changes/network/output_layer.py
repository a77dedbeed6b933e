"""The last layer in the source: its width, the axes taken off behind it, and how many classes the targets have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.network.heads_in_source import last_layer, model_calls
from netmend.diagnose.measures.batches import label_counts
from netmend.diagnose.measures.heads import Head
from netmend.library.datasets import CLASSES
from netmend.library.operations import NARROWING
from netmend.program.source.dataflow import PASSING, uses
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import once, replace, unwrap_method
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdit, FileEdits

# Data sets of the usual libraries and how many classes they have.


def classes_of(case: Case) -> int | None:
    """The number of classes that whole-numbered targets from 0 on have."""
    counts = label_counts(case.trace)
    if not counts or min(counts) < 0 or any(label != int(label) for label in counts):
        return None
    return int(max(counts)) + 1


def classes_in_source(case: Case) -> Iterator[int]:
    """Numbers of classes that the program's data tells: of a known data set, or of ids drawn at random."""
    for file in case.code.files():
        for call in file.calls():
            name = last_name(call.func)
            if name in CLASSES:
                yield CLASSES[name]
            for keyword in call.keywords:
                number = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if keyword.arg in ("n_classes", "num_classes") and isinstance(number, int):
                    yield number
            if name in ("randint", "integers"):
                numbers = [arg.value for arg in call.args[:2] if isinstance(arg, ast.Constant)]
                if numbers and isinstance(numbers[-1], int):
                    yield numbers[-1]


def set_width(case: Case, head: Head | None, width: int) -> Faces:
    """Another number of outputs."""
    layer = last_layer(case, head)
    if layer is None or layer.created is None:
        return Faces()
    name = "out_channels" if "out_channels" in layer.settings else "out_features"
    twins = [m for m in case.trace.layers() if m.created == layer.created and name in m.settings]
    if len(twins) > 1:
        return Faces(_in_sizes(case, twins, width))
    return set_argument(case.code, layer.created, name, str(width), 1, case.arguments)


def _in_sizes(case: Case, layers: list[ModuleFact], width: int) -> FileEdits:
    """Layers made in a loop over a list of sizes: its last number."""
    outputs = [m.settings.get("out_features", m.settings.get("out_channels")) for m in layers]
    sizes = [layers[0].settings.get("in_features", layers[0].settings.get("in_channels")), *outputs]
    near = layers[0].created
    for file in case.code.files(near.file if near is not None else ""):
        for node in inside(file.tree, ast.List, ast.Tuple):
            if node.elts:
                numbers = [e.value if isinstance(e, ast.Constant) else None for e in node.elts]
                if numbers[-1] is not None and numbers[-len(sizes) :] in (sizes, sizes[1:]):
                    return replace(file, node.elts[-1], str(width))
    return ()


def axes_kept(case: Case, head: Head | None) -> FileEdits:
    """Without the `squeeze(1)`, `view(-1)`, `[:, 0]` that took the axis of the only output away."""
    layer = last_layer(case, head)
    start = None if layer is None else case.code.call_at(layer.called)
    edits: list[FileEdit] = []
    for file, call in (*([start] if start is not None else []), *model_calls(case)):
        for use in uses(case.code, file, call):
            if use.method in NARROWING and isinstance(use.user, ast.Call) and _narrows(use.user):
                edits.extend(unwrap_method(use.file, use.user))
            elif isinstance(use.user, ast.Subscript) and _picks_first(use.user):
                edits.extend(replace(use.file, use.user, use.file.source(use.value)))
    return once(edits)


def _narrows(call: ast.Call) -> bool:
    """`squeeze()`, `squeeze(1)`, `view(-1)`, `flatten()`, but not `view(n, 10)`."""
    if len(call.args) > 1 or call.keywords:
        return False
    text = ast.unparse(call.args[0]) if call.args else ""
    return text in ("", "1", "-1") if last_name(call.func) == "squeeze" else text in ("", "-1")


def _picks_first(node: ast.Subscript) -> bool:
    return ast.unparse(node.slice).strip("()") in (":, 0", "..., 0", "Ellipsis, 0")


def reads_classes(case: Case) -> bool:
    """Whether the program asks for the largest of several outputs."""
    return any(
        (use.method or use.function) in ("argmax", "topk") or _largest(use.user)
        for file, call in model_calls(case)
        for use in uses(case.code, file, call)
    )


def adds_one(case: Case) -> bool:
    """Whether the index of the largest output is counted from 1: `out.argmax(1) + 1`."""
    return any(
        isinstance(use.user, ast.BinOp)
        and isinstance(use.user.op, ast.Add)
        and ast.unparse(use.user.right) == "1"
        for file, call in model_calls(case)
        for use in uses(case.code, file, call, PASSING | {"argmax"})
    )


def _largest(node: ast.AST) -> bool:
    """`torch.max(out, 1)`, `out.max(dim=1)`."""
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) == "max"
        and bool(node.args[1:] or node.keywords or _is_method(node))
    )


def _is_method(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Constant | ast.UnaryOp)
    )


def class_of_value(case: Case) -> FileEdits:
    """Where an output was rounded to a class id, the largest of the outputs is asked for now."""
    edits: list[FileEdit] = []
    for file, call in model_calls(case):
        for use in uses(case.code, file, call):
            if (use.method or use.function) != "round" or not isinstance(use.user, ast.Call):
                continue
            top = _conversions(use.file, use.user)
            text = use.file.source(_unshaped(use.value))
            edits.extend(replace(use.file, top, f"{text}.argmax(1)"))
    return once(edits)


def _conversions(file: File, node: ast.expr) -> ast.expr:
    """`out.round().clamp(0, 9).long()` as a whole."""
    while True:
        holder = file.parent(node)
        call = None if holder is None else file.parent(holder)
        if not isinstance(holder, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not holder:
            return node
        if holder.attr not in ("clamp", "clip", "long", "int", "to", "squeeze", "view", "flatten", "type"):
            return node
        node = call


def _unshaped(value: ast.expr) -> ast.expr:
    while (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in NARROWING
    ):
        value = value.func.value
    return value
