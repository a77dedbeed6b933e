"""Linear layers in a row: which of them hand their output to another one with no non-linearity between."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.network.model_layers import links_of
from netmend.diagnose.detectors.hidden_activations import on_purpose
from netmend.diagnose.measures.chain import Link, in_sequence, linear_pairs
from netmend.program.direct_connection import POOLING, RESHAPING, handed_on
from netmend.vocabulary import FunctionFact, ModuleFact

_THROUGH = ("Dropout", "Flatten", "Unflatten", "Identity", "BatchNorm", "AvgPool", "AdaptiveAvgPool", "MaxPool", "Upsample", "ZeroPad")  # fmt: skip


def rows(case: Case, model: str) -> Iterator[tuple[ModuleFact, ModuleFact]]:
    """Layers and the place behind which an activation belongs: the layer itself, or the normalisation behind it.

    Each comes with the layer that follows.
    """
    links = links_of(case, model)
    certain = {(one.name, two.name) for one, two, _ in linear_pairs(case.trace)}
    for index, first in enumerate(links):
        if first.kind != "linear" or first.module is None:
            continue
        between, second = _following(links[index + 1 :])
        if second is None or second.module is None or on_purpose(first, second):
            continue
        joined = (first.name, second.name) in certain or _chained(case, first, between, second)
        if joined or handed_on(case.sources, first.module, second.module, (*RESHAPING, *POOLING)):
            norms = [link.module for link in between if link.module and "Norm" in link.module.kind]
            yield (norms[-1] if norms else first.module), second.module


def _following(links: list[Link]) -> tuple[list[Link], Link | None]:
    """What lies before the next linear layer, and that one; None when something other than a passage comes first."""
    between: list[Link] = []
    for link in links:
        if link.kind == "linear":
            return between, link
        passes = link.kind in ("transparent", "norm") or (
            link.module is not None and link.module.kind.startswith(_THROUGH)
        )
        if not passes:
            return between, None
        between.append(link)
    return between, None


def _chained(case: Case, first: Link, between: list[Link], second: Link) -> bool:
    """In one stack, or each given exactly what the one before made."""
    one, two = first.module, second.module
    if one is None or two is None or one.calls != 1 or two.calls != 1:
        return False
    if in_sequence(case.trace, one, two):
        return True
    if any(link.module is None for link in between) or _written_between(case, one, two):
        return False
    modules = [one, *(link.module for link in between if link.module is not None), two]
    shapes = [(a.output_shapes[:1], b.input_shapes[:1]) for a, b in itertools.pairwise(modules)]
    return bool(between) and all(
        made and taken and made[0][:1] == taken[0][:1] and math.prod(made[0]) == math.prod(taken[0])
        for made, taken in shapes
    )


def _written_between(case: Case, first: ModuleFact, second: ModuleFact) -> bool:
    """An activation is called as a function on the lines between; the same line may stand for several layers."""
    if first.called is None or second.called is None or first.called.file != second.called.file:
        return True
    low, high = sorted((first.called.line, second.called.line))
    return any(
        fact.kind == "activation" and fact.site is not None and low <= fact.site.line <= high
        for fact in case.trace.all(FunctionFact)
        if fact.site is not None and first.called is not None and fact.site.file == first.called.file
    )
