"""Taking away or exchanging the function that a model's output goes through last, wherever it is written."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.network.activation_choice import Choice, choice_of, chosen, unchosen
from netmend.changes.network.layer_removal import call_removed, out_of_sequence, value_of
from netmend.diagnose.measures.heads import Head, Place, place_of
from netmend.library.activations import LAYER_OF_ACTIVATION
from netmend.program.source.dataflow import resolved
from netmend.program.source.naming import qualified, rename_callee, spelled
from netmend.program.source.writing import delete_statement, insert_after, replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary import FunctionFact, ModuleFact, Site
from netmend.vocabulary.change import FileEdits

_WITH_AXIS = ("softmax", "log_softmax")


@dataclass(frozen=True)
class Applied:
    """An application of the function: its call in an expression, or the module that is one of a sequence."""

    file: File
    call: ast.Call  # `F.softmax(x, 1)`, `self.act(x)`; for a module in a sequence what stands there: `nn.Softmax(1)`, `act`
    in_sequence: bool = False
    created: tuple[File, ast.Call] | None = None  # of a module that is called by the program itself
    module: ModuleFact | None = None
    shared: bool = False  # the same line serves other layers too
    # the word that chooses the function, where the line itself cannot be changed
    choice: Choice | None = None


def applied_at(case: Case, head: Head, function: str) -> Applied | None:
    """Where the function is applied to the output; None when that cannot be told for sure."""
    place = place_of(case.trace, head, function)
    found = _applied(case, place)
    if found is None or found.shared or isinstance(found.file.parent(found.call), ast.Dict):
        choice = choice_of(case, place, function)
        if choice is not None:
            return Applied(choice.file, choice.call, choice=choice)
    return found


def _applied(case: Case, place: Place | None) -> Applied | None:
    if place is None or place.site is None:
        return None
    if not place.module:
        found = case.code.call_at(place.site)
        if found is None:
            return None
        return Applied(*found, shared=_repeats(case, place, *found))
    module = case.trace.get(ModuleFact, place.module)
    created = None if module is None else case.code.call_at(module.created)
    if module is None or created is None:
        return None
    file, call = created
    holder = file.parent(call)
    if isinstance(holder, ast.Call) and holder.func is call:  # nn.Softmax(dim=1)(x)
        return Applied(file, holder, module=module)
    twins = [m for m in case.trace.all(ModuleFact) if m.created == module.created and m.name != module.name]
    statement = file.statement(call)
    bound = isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is call
    if not bound:
        return Applied(file, call, in_sequence=True, module=module, shared=bool(twins))
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[union-attr]
    return _of_name(case, module, created, last_name(targets[0]))


def clamp_at(case: Case, layer: ModuleFact | None, called: Site | None) -> Applied | None:
    """The only clamp between the last layer and the loss; it is no activation to the trace."""
    found: dict[ast.Call, File] = {}
    for site in (None if layer is None else layer.called, called):
        place = case.code.call_at(site)
        if place is not None:
            file, call = place
            around: ast.AST | None = file.function(call) or file.statement(call)
            found |= dict.fromkeys(file.calls("clamp", "clip", inside=around), file)
    if len(found) != 1:
        return None
    call, file = next(iter(found.items()))
    return Applied(file, call)


def _of_name(case: Case, module: ModuleFact, created: tuple[File, ast.Call], name: str) -> Applied | None:
    """A module that a variable or attribute holds: the last call of it, or its last place in a sequence."""
    called = case.code.call_at(module.called)
    if called is not None and last_name(called[1].func) == name:
        file, call = called
        if module.calls > 1:
            around = file.function(call)
            calls = list(file.calls(name, inside=around))
            call = max(calls, key=lambda node: (node.lineno, -node.col_offset), default=call)
        return Applied(file, call, created=created, module=module, shared=_loops(file, call))
    file = created[0]
    for sequence in sorted(file.calls("Sequential"), key=lambda node: -node.lineno):
        for given in reversed(sequence.args):
            if last_name(given) == name and isinstance(given, ast.Name | ast.Attribute):
                return Applied(file, given, in_sequence=True, module=module)  # type: ignore[arg-type]
    return None


def _loops(file: File, call: ast.Call) -> bool:
    loop, function = file.loop(call), file.function(call)
    return loop is not None and function is not None and function.lineno < loop.lineno


def _repeats(case: Case, place: Place, file: File, call: ast.Call) -> bool:
    """Whether a functional call serves several layers: in a loop of forward(), or in a block that is there several times."""
    fact = case.trace.get(FunctionFact, place.component)
    if fact is None or fact.kind == "loss path":
        return False
    if _loops(file, call):
        return True
    inside = case.trace.get(ModuleFact, fact.inside)
    return inside is not None and any(
        other.name != inside.name and other.qualified == inside.qualified
        for other in case.trace.all(ModuleFact)
        if other.order is not None
    )


def without(case: Case, applied: Applied) -> FileEdits:
    """The output as it is before the function."""
    file, call = applied.file, applied.call
    if applied.choice is not None:
        return unchosen(case, applied.choice)
    if applied.in_sequence:
        return _last_taken(case, applied) if applied.shared else out_of_sequence(file, call)
    if applied.shared:
        return _last_round_apart(file, call)
    edits = call_removed(file, call, value_of(file, call))
    if edits and applied.created is not None:
        edits = (*edits, *_unused(case, *applied.created, call))
    return edits


def _unused(case: Case, file: File, created: ast.Call, call: ast.Call) -> FileEdits:
    """The module's own line goes too when nothing else calls it."""
    statement = file.statement(created)
    name = last_name(call.func)
    others = [
        node
        for other in case.code.files()
        for node in inside(other.tree, ast.Attribute, ast.Name)
        if last_name(node) == name and isinstance(node.ctx, ast.Load) and node is not call.func
    ]
    return () if others or statement is None else delete_statement(file, statement)


def _last_taken(case: Case, applied: Applied) -> FileEdits:
    """`nn.Sequential(*layers)` of layers from a loop: without the last one."""
    module = applied.module
    parent = None if module is None else case.trace.get(ModuleFact, module.name.rpartition(".")[0])
    found = None if parent is None else case.code.call_at(parent.created)
    if module is None or parent is None or found is None or parent.kind != "Sequential":
        return ()
    file, sequence = found
    children = [m for m in case.trace.all(ModuleFact) if m.name.rpartition(".")[0] == parent.name]
    last = max(children, key=lambda m: -1 if m.order is None else m.order)
    only = sequence.args[0] if len(sequence.args) == 1 else None
    if last.name != module.name or not isinstance(only, ast.Starred) or not isinstance(only.value, ast.Name):
        return ()
    return replace(file, only.value, f"{only.value.id}[:-1]")


def _last_round_apart(file: File, call: ast.Call) -> FileEdits:
    """`for layer in self.layers: x = relu(layer(x))`: the last layer follows after the loop, without the function."""
    loop = file.loop(call)
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or loop.orelse:
        return ()
    layers, layer = loop.iter, loop.target.id
    if not isinstance(layers, ast.Name | ast.Attribute):
        return ()
    calls = [node for node in file.calls(layer, inside=loop) if isinstance(node.func, ast.Name)]
    first = loop.body[0]
    if len(calls) != 1 or not isinstance(first, ast.Assign) or len(first.targets) != 1:
        return ()
    target, given = first.targets[0], calls[0].args
    if not isinstance(target, ast.Name) or len(given) != 1 or last_name(given[0]) != target.id:
        return ()
    text = file.source(layers)
    return (
        *replace(file, layers, f"{text}[:-1]"),
        *insert_after(file, loop, f"{target.id} = {text}[-1]({target.id})"),
    )


def exchanged(case: Case, applied: Applied, to: str) -> FileEdits:
    """Another function in the place of this one: softmax → sigmoid, softmax → log_softmax, clamp → sigmoid."""
    file, call = applied.file, applied.call
    if applied.choice is not None:
        return chosen(case, applied.choice, to)
    if applied.shared:
        return ()
    made = applied.created or ((file, call) if applied.module is not None and applied.in_sequence else None)
    if made is not None:
        place, creation = made
        if not qualified(place, creation.func).startswith("torch.nn."):
            return ()
        name, extra = spelled(place, f"torch.nn.{LAYER_OF_ACTIVATION[to]}", like=creation.func)
        if to in _WITH_AXIS:
            return rename_callee(place, creation, f"torch.nn.{LAYER_OF_ACTIVATION[to]}")
        return (*replace(place, creation, f"{name}()"), *extra)
    value = value_of(file, call)
    if value is None:
        return ()
    text = file.source(resolved(file, value) if isinstance(value, ast.Starred) else value)
    known = qualified(file, call.func)
    if isinstance(call.func, ast.Attribute) and call.func.value is value:
        if to in _WITH_AXIS and (call.args or call.keywords):
            return replace(file, call, file.source(call).replace(f".{call.func.attr}(", f".{to}(", 1))
        return replace(file, call, f"{text}.{to}()")
    if not known.startswith("torch"):
        return ()
    package = (
        "torch" if to == "sigmoid" or not known.startswith("torch.nn.functional") else "torch.nn.functional"
    )
    if to in _WITH_AXIS:
        return rename_callee(file, call, f"{package}.{to}")
    name, extra = spelled(file, f"{package}.{to}", like=call.func)
    return (*replace(file, call, f"{name}({text})"), *extra)
