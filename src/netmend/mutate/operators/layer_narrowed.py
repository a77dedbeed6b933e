"""M416."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.model_layers import TAKES, layers_of, links_of, united
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model
from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class LayerNarrowed:
    """Reduce a hidden layer to one or two units.

    All that later layers know of a sample has to fit through it.
    """

    code: ClassVar[str] = "M416"
    causes: ClassVar[tuple[str, ...]] = ("LYR-UNITS",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    widths: tuple[int, ...] = (2, 1)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        layers = layers_of(case, "" if model is None else model.name)
        for layer in layers[:-1]:
            for index, width in enumerate(self.widths, 1):
                if _width(layer) >= 4 * width:
                    yield from mutation(
                        self,
                        f"{layer.name}: {_width(layer)} → {width} units",
                        _narrowed(case, layer, width),
                        grade=index / len(self.widths),
                        component=layer.name,
                        parameter=f"{width} units",
                    )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Units of a hidden layer, from the program's own number down to 1."""
        model = trained_model(case)
        for layer in layers_of(case, "" if model is None else model.name)[:-1]:
            if _width(layer) > 1:
                yield from self._units(case, layer)

    def _units(self, case: Case, layer: ModuleFact) -> Iterator[Knob]:
        yield from knob(
            self,
            f"fewer units of {layer.name}",
            Scale(_width(layer), 1, 1.3, logarithmic=True, whole=True),
            lambda width: _narrowed(case, layer, int(width)),
            component=layer.name,
            told=f"{layer.name}: {_width(layer)} → {{}} units",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "with the layers behind it",
            STACK,
            old="nn.Linear(4, 8),\n    nn.BatchNorm1d(8),\n    nn.ReLU(),\n    nn.Dropout(0.2),\n    nn.Linear(8, 8)",
            new="nn.Linear(4, 2),\n    nn.BatchNorm1d(2),\n    nn.ReLU(),\n    nn.Dropout(0.2),\n    nn.Linear(2, 8)",
        ),
        Example(
            "only where it is used",
            FUNCTIONS,
            old="self.fc1 = nn.Linear(24, hidden)\n        self.fc2 = nn.Linear(hidden, hidden)",
            new="self.fc1 = nn.Linear(24, 2)\n        self.fc2 = nn.Linear(2, hidden)",
            nth=0,
        ),
    )


def _width(layer: ModuleFact) -> int:
    return int(layer.settings.get("out_features") or layer.settings.get("out_channels") or 0)


def _narrowed(case: Case, layer: ModuleFact, width: int) -> FileEdits:
    """At the lines that make the layers themselves: a name may serve several of them."""
    name = "out_features" if "out_features" in layer.settings else "out_channels"
    wanted = [(layer, name, 1), *_takers(case, layer)]
    sites = [module.created for module, _, _ in wanted]
    if len(wanted) < 2 or len(set(sites)) < len(sites) or _shared(case, [m for m, _, _ in wanted]):
        return ()
    faces = [
        set_argument(case.code, module.created, setting, str(width), position, case.arguments)
        for module, setting, position in wanted
    ]
    return united(face.forced or face.edits for face in faces) if all(faces) else ()


def _takers(case: Case, layer: ModuleFact) -> list[tuple[ModuleFact, str, int]]:
    """Norm layers behind it and the next layer with weights; none where one does not take exactly its output."""
    links = [link.module for link in links_of(case, layer.model) if link.module is not None]
    found: list[tuple[ModuleFact, str, int]] = []
    for module in links[links.index(layer) + 1 :]:
        name, position = next((v for k, v in TAKES.items() if module.kind.startswith(k)), ("", 0))
        if not name:
            continue
        size = module.settings.get(name)
        size = size[-1] if isinstance(size, list | tuple) else size
        if size != _width(layer) or module.settings.get("groups", 1) not in (1, None):
            return []
        found.append((module, name, position))
        if "Norm" not in module.kind:
            return found
    return []


def _shared(case: Case, modules: list[ModuleFact]) -> bool:
    """Whether a line makes other layers too."""
    names = {module.name for module in modules}
    return any(
        other.created == module.created and other.name not in names
        for module in modules
        for other in case.trace.all(ModuleFact)
    )
