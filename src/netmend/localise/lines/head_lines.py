"""Lines of layers and heads: where one is made, where its activation is applied, which exponentials lie between."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from netmend.diagnose.measures.chain import Link, chain
from netmend.diagnose.measures.heads import Head, Place, heads, place_of
from netmend.localise.case import Case
from netmend.program.direct_connection import fed_by
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import ModuleFact, Site, Symptom, Trace


def head_of(case: Case, symptom: Symptom) -> Head | None:
    """The loss that a symptom is about."""
    name = symptom.detail.get("loss") or symptom.component
    return next((head for head in heads(case.trace) if head.loss.name == name), None)


def activation_line(case: Case, head: Head, function: str) -> tuple[Site | None, tuple[Site, ...]]:
    """The line to change for an activation of the output, and the lines that take part."""
    place = place_of(case.trace, head, function)
    losses = tuple(site for site in (head.loss.created, head.loss.called) if site is not None)
    if place is None or place.site is None:
        return _written(case, head, function) or head.loss.called, losses
    module = case.trace.get(ModuleFact, place.module)
    if module is not None and module.created is None:
        # Made before watching began: what was seen is only the line that calls the model.
        made = _made(case, module, place.site)
        return (made, (place.site, *losses)) if made is not None else (place.site, losses)
    if place.calls > 1:
        last = _last_call(case, place)
        if last is not None:
            return last, (place.site, *losses)
    return place.site, (*place.related, *losses)


def _written(case: Case, head: Head, function: str) -> Site | None:
    """The only call of that name in a forward method: operations like `torch.exp` are not watched as activations."""
    near = head.loss.called.file if head.loss.called is not None else ""
    found = [
        place
        for file in case.sources.files(near)
        for call in case.sources.calls_named(file, function)
        if (around := case.sources.function_around(place := site_of(file, call))) is not None
        and around.name == "forward"
    ]
    return found[0] if len(found) == 1 else None


def _made(case: Case, module: ModuleFact, near: Site) -> Site | None:
    """The only line of the program that makes a layer of that class."""
    found = [
        site_of(file, call)
        for file in case.sources.files(near.file)
        for call in case.sources.calls_named(file, module.kind)
    ]
    return found[0] if len(found) == 1 else None


def _last_call(case: Case, place: Place) -> Site | None:
    """The last line in forward that calls a module which is used several times: `self.relu(self.fc3(x))`."""
    if place.called is None:
        return None
    around = case.sources.function_around(place.called)
    if around is None:
        return None
    attribute = place.module.rpartition(".")[2]
    lines = range(around.lineno, (around.end_lineno or around.lineno) + 1)
    calls = [call for call in case.sources.calls_named(place.called.file, attribute) if call.lineno in lines]
    last = max(calls, key=lambda call: (call.lineno, -call.col_offset), default=None)
    return None if last is None else site_of(place.called.file, last)


def last_layer(case: Case, head: Head | None) -> ModuleFact | None:
    """The last layer with weights whose output is as large as what the loss was given; simply the last one if none is."""
    layers = [
        module
        for module in case.trace.layers()
        if module.order is not None
        and ("out_features" in module.settings or "out_channels" in module.settings)
    ]
    if not layers:
        return None
    size = math.prod(head.given.shape) if head is not None else None
    fitting = [module for module in layers if any(math.prod(shape) == size for shape in module.output_shapes)]
    return (fitting or layers)[-1]


def objective_line(case: Case, site: Site | None) -> Site | None:
    """Where the value was made on which backward() is called, if the site is such a call; else the site itself."""
    call = case.sources.call_at(site) if site is not None else None
    if (
        site is None
        or call is None
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr != "backward"
    ):
        return site
    name = last_name(call.func.value)
    made = [
        node
        for node in case.sources.nodes(site.file, ast.Assign)
        if node.lineno < site.line and name in map(last_name, node.targets)
    ]
    return site_of(site.file, max(made, key=lambda node: node.lineno)) if name and made else site


def result_line(case: Case, made: Site | None, backward: Site | None) -> Site | None:
    """Where a hand-written objective gets its final form: the return of the function it is written in, or its assignment."""
    if made is None or backward is None or made.function == backward.function:
        return objective_line(case, backward) or made
    around = case.sources.function_around(made)
    returns = list(inside(around, ast.Return)) if around is not None else []
    return site_of(made.file, returns[-1]) if returns else made


def text_at(case: Case, site: Site | None, function: str = "") -> str:
    """The source of a line in backquotes with its place, for remedies; its place alone when it cannot be read.

    Of a `function` it is only said to be at a line that can hold it: where a model is merely called, the model's end is meant.
    """
    if site is None:
        return "the line"
    written = case.sources.line(site).lower().replace("_", "")
    if function and written and function.replace("_", "") not in written and "self." not in written:
        return f"the end of the model that is called in {site.short}"
    text = case.sources.line(site).rstrip(",")
    return f"`{text}` in {site.short}" if 0 < len(text) <= 90 and "`" not in text else site.short


_NAMES = ("exp", "exp_")


def hidden_exponentials(case: Case) -> Iterator[tuple[Site, Link]]:
    """Calls of exp in a forward method, and the layer whose output they take, where a layer behind can take theirs."""
    layers = [link for link in chain(case.trace) if link.kind == "linear" and link.module is not None]
    taken = [(link, following) for link in layers if (following := _following(layers, link)) is not None]
    for file in case.sources.files() if taken else ():
        for call in case.sources.calls_named(file, *_NAMES):
            site = site_of(file, call)
            around = case.sources.function_around(site)
            if around is None or around.name != "forward":
                continue
            for link, _ in taken:
                if link.module is not None and fed_by(case.sources, site, link.module):
                    yield site, link
                    break


def _following(layers: list[Link], link: Link) -> Link | None:
    """The next layer of the model, if it can take what this one makes: as many channels, or all of them flattened."""
    later = next(
        (other for other in layers if other.model == link.model and other.position > link.position), None
    )
    if later is None or later.module is None or not later.module.input_shapes or len(link.shape) < 2:
        return None
    shape = later.module.input_shapes[0]
    units = link.shape[1] if len(link.shape) > 2 else link.shape[-1]
    wanted = shape[1] if len(shape) > 2 else shape[-1]
    return later if units and wanted % units == 0 else None


def creation_of(trace: Trace, name: str) -> Site | None:
    """Layers that were copied from a pattern (as in `nn.TransformerEncoder`) have no line of their own: that of an owner counts."""
    while name:
        fact = trace.get(ModuleFact, name)
        if fact is not None and fact.created is not None:
            return fact.created
        name = name.rpartition(".")[0]
    return None
