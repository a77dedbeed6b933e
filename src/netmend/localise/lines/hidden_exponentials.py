"""Exponentials between layers, as the source of forward() says: `torch.exp(self.conv1(x))` is not watched as an activation."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.measures.chain import Link, chain
from netmend.localise.case import Case
from netmend.program.direct_connection import fed_by
from netmend.program.text.queries import site_of
from netmend.vocabulary import Site

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
