"""Activation functions in the source: another one in the place of one that ran, none, and one more behind a layer."""

from __future__ import annotations

import ast

from netmend.changes.case import Case
from netmend.changes.network.gates import is_gate
from netmend.changes.network.layer_removal import call_removed, layer_removed, value_of
from netmend.changes.network.stacks import put_behind
from netmend.diagnose.measures.chain import Link, chain, last_weighted
from netmend.library.activations import ACTIVATIONS, LAYER_OF_ACTIVATION
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits

# Function → how a layer of it is made, and how it is called; {} is what it is applied to.
LAYERS = {name: f"torch.nn.{layer}" for name, layer in LAYER_OF_ACTIVATION.items()}
CALLS = {each.name: each.function for each in ACTIVATIONS} | {"exp": "torch.exp"}
_ELEMENTWISE = tuple(each.name for each in ACTIVATIONS if not each.across and each.name != "glu")


def hidden(case: Case) -> list[Link]:
    """Elementwise activations between two layers with weights, one for each place in the source."""
    found: dict[object, Link] = {}
    for link in chain(case.trace):
        if link.kind == "activation" and link.function in _ELEMENTWISE:
            behind = link.position < last_weighted(case.trace, link.model)
            if behind and link.site is not None and not _weighs(case, link):
                found.setdefault(link.site, link)
    return list(found.values())


def _weighs(case: Case, link: Link) -> bool:
    site = link.site if link.module is None else link.module.called
    found = case.code.call_at(site)
    return found is not None and is_gate(*found)


def exchanged(case: Case, link: Link, new: str) -> FileEdits:
    """Another function in the place of one that ran: `nn.ReLU()`, `F.relu(h)`, `h.relu()`."""
    found = case.code.call_at(link.site)
    if found is None:
        return ()
    file, call = found
    if link.module is not None:
        if last_name(call.func) != link.module.kind or new not in LAYERS:
            return ()
        name, extra = spelled(file, LAYERS[new], like=call.func)
        return (*replace(file, call, f"{name}({'dim=-1' if new == 'softmax' else ''})"), *extra)
    return _called(file, call, link.function, new)


def _called(file: File, call: ast.Call, function: str, new: str) -> FileEdits:
    value = argument_of(file, call, function)
    if value is None:
        return ()
    name, extra = spelled(file, CALLS[new])
    axis = ", dim=-1" if new == "softmax" else ""
    return (*replace(file, call, f"{name}({file.source(value)}{axis})"), *extra)


def argument_of(file: File, call: ast.Call, function: str) -> ast.expr | None:
    """What a function or a tensor's method of that name is applied to."""
    if last_name(call.func).rstrip("_") != function:
        return None
    if qualified(file, call.func).startswith("torch."):
        first = call.args[0] if call.args else None
        return None if isinstance(first, ast.Starred) else first
    is_method = isinstance(call.func, ast.Attribute) and not qualified(file, call.func)
    return call.func.value if isinstance(call.func, ast.Attribute) and is_method else None


def removed(case: Case, link: Link) -> FileEdits:
    """Without an activation: its layer taken out, or its call undone."""
    if link.module is not None:
        return layer_removed(case, link.module)
    found = case.code.call_at(link.site)
    if found is None or argument_of(*found, link.function) is None:
        return ()
    return call_removed(*found, value_of(*found))


def behind(case: Case, module: ModuleFact, function: str) -> FileEdits:
    """An activation behind a layer: in the stack that it stands in, or around its call in `forward`."""
    holder = case.trace.get(ModuleFact, module.name.rpartition(".")[0])
    stack = (holder.kind if holder is not None else _kind(case, module)) == "Sequential"
    axis = "dim=-1" if function == "softmax" else ""
    created = case.code.call_at(module.created)
    if stack and function in LAYERS and created is not None:
        file, call = created
        if last_name(call.func) != module.kind:
            return ()
        name, extra = spelled(file, LAYERS[function], like=call.func)
        return (*put_behind(file, call, f"{name}({axis})", "act"), *extra)
    called = case.code.call_at(module.called)
    if stack or called is None or module.calls != 1 or last_name(called[1].func) != _attribute(module):
        return ()
    name, extra = spelled(called[0], CALLS[function])
    around = wrap(called[0], called[1], f"{name}(", f", {axis})" if axis else ")")
    return (*around, *extra) if around else ()


def _attribute(module: ModuleFact) -> str:
    return module.name.rpartition(".")[2]


def _kind(case: Case, module: ModuleFact) -> str:
    """The class of the model, for a layer that stands in it directly."""
    return next((model.kind for model in case.trace.models if model.name == module.model), "")
