"""Where an activation function is chosen: a layer's construction, a call, a method, a class or a name that is handed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.network.activation_choice import (
    NAMES,
    chosen_by_text,
    classes_of,
    from_table,
    is_named,
    text_at,
)
from netmend.changes.network.gates import is_gate
from netmend.changes.network.layer_removal import calls_like
from netmend.diagnose.measures.chain import Link, chain, last_weighted
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import replace, united, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.program.text.sources import Code
from netmend.vocabulary import LossFact, ModuleFact
from netmend.vocabulary.change import FileEdits


def exchanged(case: Case, link: Link, new: str) -> FileEdits:
    """Another activation in the place of one that ran; empty when its place is not certain or it is a gate."""
    if link.module is not None:
        return _layer(case, link.module, new)
    found = case.code.call_at(link.site)
    if found is None:
        return ()
    file, call = found
    others = [other for other in _same_on_line(file, call) if _is_inside_layer(case, file, other)]
    calls = dict.fromkeys((call, *others))
    if any(is_gate(file, one) for one in calls):
        return ()
    return united(_called(case.code, file, one, link.function, new) for one in calls)


def _layer(case: Case, module: ModuleFact, new: str) -> FileEdits:
    if _gates(case, module):
        return ()
    found = case.code.call_at(module.created)
    if found is None:
        return ()
    file, call = found
    if is_output_too(case, module):
        return _all_but_last_call(case, module, new)
    kind = f"torch.nn.{NAMES[new][0]}"
    chosen = chosen_by_text(case.code, file, call, new)
    if chosen:
        return chosen
    if is_named(file, call.func, module.kind):
        name, extra = spelled(file, kind, like=call.func)
        return (*replace(file, call, f"{name}()"), *extra)
    classes = list(classes_of(case.code, file, call.func, module.kind, 0))
    if not classes:
        return from_table(case.code, file, call.func, new)
    return united(_named_class(place, node, kind) for place, node in classes)


def _gates(case: Case, module: ModuleFact) -> bool:
    """Whether the module, or the stack that it ends, weighs something."""
    fact: ModuleFact | None = module
    while fact is not None:
        found = case.code.call_at(fact.called)
        if found is not None and is_gate(*found):
            return True
        holder = case.trace.get(ModuleFact, fact.name.rpartition(".")[0])
        if holder is None or holder.kind != "Sequential" or fact.output_shapes != holder.output_shapes:
            return False
        siblings = [m for m in case.trace.layers() if m.name.rpartition(".")[0] == holder.name and m.calls]
        fact = holder if siblings and siblings[-1].name == fact.name else None
    return False


def is_output_too(case: Case, module: ModuleFact) -> bool:
    """One and the same layer serves as hidden and as output activation."""
    if module.calls < 2 or module.activation is None:
        return False
    later = [link for link in chain(case.trace) if link.position > last_weighted(case.trace, link.model)]
    if any(link.function == module.activation for link in later):
        return False
    losses = [loss for loss in case.trace.all(LossFact) if loss.backward is not None] or case.trace.losses
    heads = [o.path[:2] for loss in losses for o in loss.operands if o.role == "prediction"]
    word = module.activation.replace("_", "")
    return any(node.lower().startswith(word) for path in heads for node in path)


def _all_but_last_call(case: Case, module: ModuleFact, new: str) -> FileEdits:
    found = case.code.call_at(module.called)
    if found is None:
        return ()
    file, call = found
    name, extra = spelled(file, f"torch.nn.functional.{NAMES[new][1]}")
    edits = [replace(file, one.func, name) for one in calls_like(file, call)[:-1]]
    return united([*edits, extra]) if edits else ()


def _same_on_line(file: File, call: ast.Call) -> Iterator[ast.Call]:
    for node in inside(file.tree, ast.Call):
        if node is not call and node.lineno == call.lineno:
            same = last_name(node.func) == last_name(call.func) and last_name(node.func)
            if same and isinstance(node.func, ast.Attribute) == isinstance(call.func, ast.Attribute):
                yield node


def _is_inside_layer(case: Case, file: File, call: ast.Call) -> bool:
    """Whether its result goes into a layer within the same expression."""
    names = {module.name.rpartition(".")[2] for module in case.trace.layers() if not module.activation}
    for above in file.parents(call):
        if isinstance(above, ast.Call) and last_name(above.func) in names:
            return True
        if isinstance(above, ast.stmt):
            return False
    return False


def _called(code: Code, file: File, call: ast.Call, function: str, new: str) -> FileEdits:
    """`torch.sigmoid(x)`, `x.sigmoid()`, `self.act(x)`, `getattr(F, "sigmoid")(x)`."""
    target = NAMES[new][1]
    full = qualified(file, call.func)
    chosen = chosen_by_text(code, file, call, new)
    if chosen:
        return chosen
    if full.startswith("torch.") and last_name(call.func).rstrip("_") == function:
        wanted = (
            "torch.relu" if full.count(".") == 1 and target == "relu" else f"torch.nn.functional.{target}"
        )
        name, extra = spelled(file, wanted, like=call.func)
        rest = _first_only(file, call)
        return () if rest is None else (*replace(file, call.func, name), *rest, *extra)
    if isinstance(call.func, ast.Attribute) and call.func.attr.rstrip("_") == function and not full:
        if target == "relu":
            return _behind(file, call, call.func.value, ".relu()")
        name, extra = spelled(file, f"torch.nn.functional.{target}")
        closing = _behind(file, call, call.func.value, ")")
        return (*wrap(file, call.func.value, f"{name}(", ""), *closing, *extra) if closing else ()
    if isinstance(call.func, ast.Call) and last_name(call.func.func) == "getattr" and len(call.func.args) > 1:
        return text_at(code, file, call.func.args[1], repr(target))
    places = classes_of(code, file, call.func, function, 0)
    return united(_named_class(place, node, f"torch.{target}") for place, node in places)


def _first_only(file: File, call: ast.Call) -> FileEdits | None:
    """Without the arguments behind the first: `softmax(x, dim=1)` → `softmax(x)`; None when the first is given by name."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        return None
    if len(call.args) == 1 and not call.keywords:
        return ()
    start = file.text.index(",", file.span(call.args[0])[1])  # brackets of the argument itself may follow it
    return file.edit(start, file.span(call)[1] - 1, "")


def _behind(file: File, call: ast.Call, value: ast.expr, text: str) -> FileEdits:
    """Another method in the place of the last one; what it is called on is not touched, as it may change as well."""
    start, end = file.span(value)[1], file.span(call)[1]
    dot = file.text.rindex(".", start, end)  # brackets around the value may come before it
    inside = file.text[dot:end]
    if "\n" in inside or inside.count("(") != 1:
        dot = file.text.index(".", start)
    return file.edit(dot, end, text)


def _named_class(file: File, node: ast.expr, wanted: str) -> FileEdits:
    if wanted == "torch.gelu" or wanted == "torch.leaky_relu":
        wanted = wanted.replace("torch.", "torch.nn.functional.")
    name, extra = spelled(file, wanted, like=node)
    return (*replace(file, node, name), *extra)
