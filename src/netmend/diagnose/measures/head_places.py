"""Where in the user's program the last function of a head is: between model and loss, in a forward, or a module."""

from __future__ import annotations

import math
from dataclasses import dataclass

from netmend.diagnose.measures.heads import Head
from netmend.vocabulary import FunctionFact, ModuleFact, Site, Trace


@dataclass(frozen=True)
class Place:
    """The function's line; `module` is its module's name, "" for a functional call."""

    component: str
    site: Site | None
    related: tuple[Site, ...] = ()
    module: str = ""
    calls: int = 1  # how often the module is called in one forward pass
    called: Site | None = None


def place_of(trace: Trace, head: Head, function: str) -> Place | None:
    """The last such function on the way to the loss; None when no line of the user's is known for it."""
    between = [
        fact
        for fact in trace.all(FunctionFact)
        if fact.kind == "loss path" and fact.function == function and fact.site is not None
    ]
    if between:
        fact = max(between, key=lambda fact: fact.order or 0)
        return Place(fact.name, fact.site)
    size = math.prod(head.given.shape)
    found: list[tuple[tuple[bool, int, int], Place]] = []
    for call in trace.all(FunctionFact):
        if call.kind == "activation" and call.function == function and call.site is not None:
            fits = math.prod(call.output_shape) == size
            found.append(((fits, call.order or 0, 0), Place(call.name, call.site)))
    for module in trace.all(ModuleFact):
        if module.activation == function and module.order is not None:
            place = module.created or module.called
            fits = module.calls > 1 or any(math.prod(shape) == size for shape in module.output_shapes)
            related = tuple(site for site in (module.called,) if site is not None and site != place)
            found.append(
                (
                    (fits, module.order, 1),
                    Place(module.name, place, related, module.name, module.calls, module.called),
                )
            )
    if not found:
        # In a compiled model no order of layers is seen: a single layer of that kind must be it.
        alone = [module for module in trace.all(ModuleFact) if module.activation == function]
        place = alone[0].created if len(alone) == 1 else None
        return Place(alone[0].name, place, module=alone[0].name) if place is not None else None
    fitting = [entry for entry in found if entry[0][0]] or found
    return max(fitting, key=lambda entry: entry[0])[1]
