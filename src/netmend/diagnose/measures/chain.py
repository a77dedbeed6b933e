"""The chain of operations of a model in the order in which they ran: layers, activations, what lies between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from netmend.library.layers import LINEAR, PASSING, RECURRENT_CELLS
from netmend.vocabulary import FunctionFact, ModuleFact, ParameterFact, Site, Trace

RECTIFIERS = ("relu", "relu6", "threshold")  # exactly zero on one side, so a unit can die
SIGMOIDS = ("sigmoid", "hardsigmoid", "logsigmoid")  # pass on a quarter of the gradient at best

_LINEAR = (*LINEAR, "LazyLinear")


@dataclass(frozen=True)
class Link:
    """One operation: a leaf module or a functional call."""

    name: str  # component under which it was measured
    kind: str  # linear | recurrent | activation | norm | transparent | other
    function: str  # activation function; "" for others
    position: float  # order of execution
    model: str
    module: ModuleFact | None
    shape: tuple[int, ...]  # of its output
    site: Site | None  # the line to change: where a layer was created, where a function is called


@lru_cache(maxsize=16)
def chain(trace: Trace) -> tuple[Link, ...]:
    """All operations that ran, model by model, in order."""
    found = [_of_module(module) for module in trace.layers() if module.order is not None]
    found += [
        Link(
            fact.name,
            _function_kind(fact),
            fact.function,
            fact.order - 0.5,
            fact.model,
            None,
            fact.output_shape,
            fact.site,
        )
        for fact in trace.all(FunctionFact)
        if fact.order is not None and fact.kind in ("activation", "norm", "dropout") and fact.model
    ]
    return tuple(sorted(found, key=lambda link: (link.model, link.position)))


def activations(trace: Trace, functions: tuple[str, ...]) -> Iterator[Link]:
    """Hidden activations of the given kinds."""
    return (link for link in _hidden(trace) if link.function in functions)


def _hidden(trace: Trace) -> list[Link]:
    models = dict.fromkeys(link.model for link in chain(trace))
    return [link for model in models for link in hidden_activations(trace, model)]


def links_of(trace: Trace, model: str, kind: str = "") -> list[Link]:
    """The operations of one model, of one kind."""
    return [link for link in chain(trace) if link.model == model and kind in ("", link.kind)]


def before(trace: Trace, link: Link) -> list[Link]:
    """What ran before it in its model, in order."""
    return [other for other in links_of(trace, link.model) if other.position < link.position]


def behind(trace: Trace, link: Link) -> list[Link]:
    """What ran after it in its model, in order."""
    return [other for other in links_of(trace, link.model) if other.position > link.position]


def hidden_activations(trace: Trace, model: str) -> list[Link]:
    """Activations that a layer with weights follows."""
    end = last_weighted(trace, model)
    return [link for link in links_of(trace, model, "activation") if link.position < end]


def mostly(trace: Trace, functions: tuple[str, ...]) -> Link | None:
    """The first hidden activation of the given kinds, where at least half of the hidden activations are of them."""
    every = _hidden(trace)
    of_kind = [link for link in every if link.function in functions]
    return of_kind[0] if of_kind and 2 * len(of_kind) >= len(every) else None


@lru_cache(maxsize=32)
def last_weighted(trace: Trace, model: str) -> float:
    """Position of the last layer with weights: what comes later belongs to the output."""
    owners = {p.module for p in trace.all(ParameterFact)}
    return max(
        (link.position for link in chain(trace) if link.model == model and link.name in owners), default=-1.0
    )


def linear_pairs(trace: Trace) -> Iterator[tuple[Link, Link, bool]]:
    """Linear layers that follow one another with no non-linearity between, and whether the second surely gets the first's output."""
    links = chain(trace)
    for index, first in enumerate(links):
        if first.kind != "linear" or first.module is None:
            continue
        for second in links[index + 1 :]:
            if second.model != first.model or second.kind not in ("linear", "transparent"):
                break
            if second.kind == "linear" and second.module is not None:
                certain = in_sequence(trace, first.module, second.module)
                if certain and _shared_between(trace, first.module, second.module):
                    break
                joined = _fits(first.module, second.module) and not _built_in(trace, second.module)
                if joined and (certain or not _written_between(trace, first.module, second.module)):
                    yield first, second, certain
                break


def in_sequence(trace: Trace, first: ModuleFact, second: ModuleFact) -> bool:
    """Whether two modules stand in the same nn.Sequential, the second after the first."""
    parent, _, one = first.name.rpartition(".")
    other, _, two = second.name.rpartition(".")
    holder = trace.get(ModuleFact, parent)
    return (
        parent == other
        and holder is not None
        and holder.kind == "Sequential"
        and one.isdigit()
        and two.isdigit()
    )


def _shared_between(trace: Trace, first: ModuleFact, second: ModuleFact) -> bool:
    """Whether a place between two layers of a stack holds an activation that also stands elsewhere: it is known under its first place only."""
    parent, _, one = first.name.rpartition(".")
    two = second.name.rpartition(".")[2]
    places = [f"{parent}.{index}" for index in range(int(one) + 1, int(two))]
    repeated = any(trace.get(ModuleFact, place) is None for place in places)
    return repeated and any(
        module.activation is not None and module.calls > 1
        for module in trace.layers()
        if module.model == first.model
    )


def _written_between(trace: Trace, first: ModuleFact, second: ModuleFact) -> bool:
    """Whether a functional activation is called on the lines from one layer's call to the other's.

    A line of code that calls several, or the same one in every block, is known only once, under its first place in the order.
    """
    if first.called is None or second.called is None or first.called.file != second.called.file:
        return True  # not written in one piece of code: nothing can be said
    low, high = sorted((first.called.line, second.called.line))
    return any(
        fact.kind == "activation"
        and fact.site is not None
        and fact.site.file == first.called.file
        and low <= fact.site.line <= high
        for fact in trace.all(FunctionFact)
    )


def _built_in(trace: Trace, module: ModuleFact) -> bool:
    """Whether it is part of a ready-made block, whose own activations are not seen as calls of the user's."""
    holder = trace.get(ModuleFact, module.name.rpartition(".")[0])
    return (
        holder is not None
        and holder.qualified.startswith("torch.nn.modules")
        and not holder.qualified.startswith("torch.nn.modules.container")
    )


def positions(shape: tuple[int, ...]) -> int:
    """How many samples (and places) a unit was looked at in one batch, whichever of the later axes holds the units."""
    return math.prod(shape) // max(max(shape[1:], default=1), 1) if shape else 0


def _fits(first: ModuleFact, second: ModuleFact) -> bool:
    """The second layer is called once, on as many numbers as the first one makes."""
    if first.calls != 1 or second.calls != 1 or not first.output_shapes or not second.input_shapes:
        return False
    made, taken = first.output_shapes[0], second.input_shapes[0]
    return made == taken or (
        len(taken) == 2 and made[:1] == taken[:1] and math.prod(made) == math.prod(taken)
    )


def _of_module(module: ModuleFact) -> Link:
    shape = module.output_shapes[0] if module.output_shapes else ()
    return Link(
        module.name,
        _module_kind(module),
        module.activation or "",
        float(module.order or 0),
        module.model,
        module,
        shape,
        module.created,
    )


def _module_kind(module: ModuleFact) -> str:
    if module.activation is not None:
        return "activation"
    if not module.qualified.startswith("torch.nn.modules"):
        return "other"
    if module.kind in _LINEAR:
        return "linear"
    if module.kind in RECURRENT_CELLS:
        return "recurrent"
    if module.kind.startswith(PASSING):
        return "transparent"
    return "norm" if "Norm" in module.kind else "other"


def _function_kind(fact: FunctionFact) -> str:
    if fact.kind == "dropout" or fact.function == "batch_norm":
        return "transparent"
    return "norm" if fact.kind == "norm" else "activation"
