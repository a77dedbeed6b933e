"""Where a layer comes from: the line that creates it, or the one that creates the layer it is a part of."""

from __future__ import annotations

from netmend.vocabulary import ModuleFact, Site, Trace


def creation_of(trace: Trace, name: str) -> Site | None:
    """Layers that were copied from a pattern (as in `nn.TransformerEncoder`) have no line of their own: that of an owner counts."""
    while name:
        fact = trace.get(ModuleFact, name)
        if fact is not None and fact.created is not None:
            return fact.created
        name = name.rpartition(".")[0]
    return None
