"""The layers of a model as the trace knows them: in which order they ran, in what they stand, what they take, how wide they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.diagnose.detectors.hidden_activations import on_purpose
from netmend.diagnose.measures.chain import Link, chain, in_sequence, linear_pairs
from netmend.library.layers import LAYERS
from netmend.program.direct_connection import POOLING, RESHAPING, handed_on
from netmend.program.source.values import Faces, joined, set_argument
from netmend.program.text.queries import last_name
from netmend.vocabulary import FunctionFact, ModuleFact, Site

# What a layer says about the width of its input and output, and where: (setting, position)
TAKES = {layer.kind: (layer.takes, layer.place) for layer in LAYERS if layer.takes}


def links_of(case: Case, model: str = "") -> list[Link]:
    """What ran in a model, in order; of the first model when none is named."""
    name = model or (case.model.name if case.model is not None else "")
    return [link for link in chain(case.trace) if link.model == name]


def model_of_fault(case: Case) -> str:
    """The model that the fault's component belongs to; "" when it names none."""
    component = case.component
    fact = case.trace.get(ModuleFact, component)
    if fact is not None:
        return fact.model
    names = [model.name for model in case.trace.models]
    return next((name for name in names if component == name or component.startswith(f"{name}.")), "")


def layers_of(case: Case, model: str = "") -> list[ModuleFact]:
    """Linear layers and convolutions of a model in the order in which they ran."""
    return [
        link.module for link in links_of(case, model) if link.kind == "linear" and link.module is not None
    ]


def holder_of(case: Case, module: ModuleFact) -> ModuleFact | None:
    return case.trace.get(ModuleFact, module.name.rpartition(".")[0])


def in_stack(case: Case, module: ModuleFact) -> bool:
    """Whether a Sequential calls it, so that what is put behind it there is called too."""
    holder = holder_of(case, module)
    return holder is not None and holder.kind == "Sequential" and module.registered


def is_written(case: Case, module: ModuleFact) -> bool:
    """Whether the program itself makes and calls a layer; those inside ready-made blocks cannot be touched."""
    created = case.code.call_at(module.created)
    if created is None or last_name(created[1].func) != module.kind:
        return False
    called = case.code.call_at(module.called)
    own = called is not None and last_name(called[1].func) == module.name.rpartition(".")[2]
    return own or in_stack(case, module)


def made_by(case: Case, site: Site | None) -> list[ModuleFact]:
    """The modules that one line of source creates, in the order in which they ran."""
    found = [module for module in case.trace.layers() if site is not None and module.created == site]
    return [module for module in found if module.order is not None]


Taker = tuple[ModuleFact, str, int, int]  # layer, setting, position of the argument, how many per unit


def width_of_layer(layer: ModuleFact) -> int:
    """Units or channels; 0 for layers without."""
    return int(layer.settings.get("out_features") or layer.settings.get("out_channels") or 0)


def takers(case: Case, layer: ModuleFact) -> list[Taker]:
    """Layers behind it up to the next with weights of its own; none when it is not certain who takes its output."""
    links = [link.module for link in links_of(case, layer.model) if link.module is not None]
    found: list[Taker] = []
    width = width_of_layer(layer)
    for module in links[links.index(layer) + 1 :] if layer in links and width else ():
        name, position = next((v for k, v in TAKES.items() if module.kind.startswith(k)), ("", 0))
        if not name:
            continue
        given = module.settings.get(name)
        size = given[-1] if isinstance(given, list | tuple) else given
        fits = isinstance(size, int) and size % width == 0
        if isinstance(size, int) and fits and (size == width or _is_flattened(layer, module)):
            found.append((module, name, position, size // width))
        if "Norm" not in module.kind:
            break
    return found if found and "Norm" not in found[-1][0].kind else []


def set_layer_width(case: Case, layer: ModuleFact, width: int) -> Faces:
    """Another width for a hidden layer and for what takes its output; nothing when either cannot be written."""
    behind = takers(case, layer)
    if not behind:
        return Faces()
    name = "out_features" if "out_features" in layer.settings else "out_channels"
    faces = [
        set_argument(case.code, module.created, setting, str(width * times), position, case.arguments)
        for module, setting, position, times in [(layer, name, 1, 1), *behind]
    ]
    given = {face.arguments for face in faces if face.arguments is not None}
    if not all(faces) or len(given) > 1:
        return Faces()
    return joined(faces)


def _is_flattened(layer: ModuleFact, module: ModuleFact) -> bool:
    return (
        module.kind == "Linear"
        and len((*layer.output_shapes, ())[0]) > 2
        and len((*module.input_shapes, ())[0]) == 2
    )


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
