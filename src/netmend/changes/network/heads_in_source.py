"""The head of the program in its source: which loss a fault is about, where the model is called, which layer comes last."""

from __future__ import annotations

import ast

from netmend.changes.case import Case
from netmend.diagnose.measures.chain import Link, chain
from netmend.diagnose.measures.heads import Head, heads, place_of
from netmend.library.activations import OF_ANSWERS
from netmend.localise.case import Case as Seen
from netmend.localise.lines import head_lines
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.vocabulary import FunctionFact, ModuleFact, OperandFact


def head_of(case: Case) -> Head | None:
    """The head that the fault is about: by its loss, else by the function of its output, else the first."""
    found = heads(case.trace)
    wanted = case.component
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


def last_head(case: Case) -> Head | None:
    """The head; of a loss that is written by hand, one made up from what the model did last, before any logarithm of the loss."""
    found = head_of(case)
    loss = case.loss if found is None else found.loss
    by_hand = loss is not None and loss.form == "expression"
    if loss is None or (found is not None and (found.activation in OF_ANSWERS or not by_hand)):
        return found
    end = _end(case)
    if end is None:
        return found
    on_path = [
        fact
        for fact in case.trace.all(FunctionFact)
        if fact.kind == "loss path" and fact.function in OF_ANSWERS
    ]
    function = max(on_path, key=lambda fact: fact.order or 0).function if on_path else end.function
    return Head(loss, OperandFact("prediction", end.shape, requires_grad=True), None, (function,))


def last_function(case: Case) -> str:
    """The activation that the output goes through last; "" for raw scores."""
    head = last_head(case)
    return "" if head is None else head.activation


def output_width(case: Case) -> int | None:
    """How many outputs a sample has."""
    head = last_head(case)
    if head is None or not head.given.shape:
        return None
    return head.given.shape[-1] if len(head.given.shape) > 1 else 1


def _end(case: Case) -> Link | None:
    """The last operation of the model that is trained; a module that computes the loss has no layers."""
    links = [link for link in chain(case.trace) if link.kind in ("linear", "activation", "recurrent")]
    own = [link for link in links if case.model is not None and link.model == case.model.name]
    return max((link for link in own or links if link.shape), key=lambda link: link.position, default=None)
