"""The head of the program in its source: which loss a fault is about, where the model is called, which layer comes last."""

from __future__ import annotations

import ast

from netmend.diagnose.measures.head_places import place_of
from netmend.diagnose.measures.heads import Head, heads
from netmend.localise import head_lines
from netmend.localise.case import Case as Seen
from netmend.localise.source import last_name
from netmend.repair.repair import Case
from netmend.repair.source.code import File
from netmend.vocabulary import ModuleFact


def head_of(case: Case) -> Head | None:
    """The head that the fault is about: by its loss, else by the function of its output, else the first."""
    found = heads(case.trace)
    wanted = "" if case.fault is None else case.fault.component
    for head in found:
        if head.loss.name == wanted:
            return head
    for head in found:
        place = place_of(case.trace, head, head.last) if head.last else None
        if place is not None and place.component == wanted:
            return head
    return next(iter(found), None)


def last_layer(case: Case, head: Head | None) -> ModuleFact | None:
    """The layer with weights that makes the output."""
    return head_lines.last_layer(Seen(case.trace, (), case.sources), head)


def model_calls(case: Case) -> list[tuple[File, ast.Call]]:
    """Every call of the model: those that were seen, and those of the same name that never came to run."""
    model = case.model
    if model is None:
        return []
    sites = [model.called] + [
        call.site
        for pattern in case.trace.patterns
        for call in pattern.calls
        if call.what == "forward" and call.component == model.name
    ]
    found = [call for site in dict.fromkeys(sites) if (call := case.code.call_at(site)) is not None]
    names = {last_name(call.func) for _, call in found} - {""}
    for file in case.code.files():
        for other in file.calls(*names) if names else ():
            around = file.function(other)
            inside = around is not None and around.name == "forward"  # a part of the same name
            if not inside and not any(other is known for _, known in found):
                found.append((file, other))
    return found


def training_call(case: Case) -> tuple[File, ast.Call] | None:
    """The call of the model that is trained."""
    return None if case.model is None else case.code.call_at(case.model.called)
