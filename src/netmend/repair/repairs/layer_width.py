"""R312."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.model_layers import TAKES, layers_of, links_of, model_of_fault, united
from netmend.program.source.values import Faces, set_argument
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import BUDGET, BY_FACTS, Change

_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 20)), torch.ones(4, 1))")


@register
@dataclass(frozen=True)
class LayerWidth:
    """Widen a layer that is far too narrow, together with the layers that take its output.

    All that later layers know of a sample has to fit through the narrowest one. First as wide as its neighbours, then
    four times that.
    """

    code: ClassVar[str] = "R312"
    cures: ClassVar[tuple[str, ...]] = ("LYR-UNITS", "ARC-STRUCT-SUBOPT")
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = True

    least: int = 32  # units that a small network has in its hidden layers
    most: int = 512
    tiny: int = 4  # so few are hardly ever meant, even if nothing was told

    def propose(self, case: Case) -> Iterator[Change]:
        narrow = self._narrow(case)
        if not narrow:
            return
        old = min(_width(layer) for layer in narrow)
        neighbours = [_width(layer) for layer in layers_of(case, narrow[0].model)[:-1]]
        neighbours.append(
            int(narrow[0].settings.get("in_features") or narrow[0].settings.get("in_channels") or 0)
        )
        first = min(max(self.least, *neighbours), self.most)
        widths = [width for width in (first, first * 4) if width <= max(self.most, first)]
        for width in widths if case.fault is not None else widths[:1]:
            faces = [self._widened(case, layer, width) for layer in narrow]
            if not all(faces):
                return
            edits, forced = united(face.edits for face in faces), united(face.forced for face in faces)
            title = f"{', '.join(layer.name for layer in narrow[:3])}: {old} → {width} units"
            effort = self.effort if case.fault is not None else BUDGET
            both = Faces(edits, forced if forced != edits else (), faces[0].arguments)
            yield from change(self, case, title, both, knob=f"width of {narrow[0].name}", effort=effort)

    def _narrow(self, case: Case) -> list[ModuleFact]:
        """The layer that the fault names and all that are as narrow; without one, those that are tiny."""
        layers = layers_of(case, model_of_fault(case))
        hidden = [layer for layer in layers[:-1] if _width(layer) > 0 and layer.created is not None]
        named = next(
            (la for la in hidden if case.fault is not None and la.name == case.fault.component), None
        )
        if case.fault is not None and named is None and case.cause == "LYR-UNITS":
            return []
        limit = _width(named) if named is not None else self.tiny
        if named is None and case.fault is not None:
            limit = min((_width(layer) for layer in hidden), default=0)
        return [layer for layer in hidden if _width(layer) <= limit and self._takers(case, layer)]

    def _takers(self, case: Case, layer: ModuleFact) -> list[tuple[ModuleFact, str, int, int]]:
        """Layers behind it up to the next with weights of its own: (layer, setting, position, how many per unit)."""
        links = [link.module for link in links_of(case, layer.model) if link.module is not None]
        found: list[tuple[ModuleFact, str, int, int]] = []
        width = _width(layer)
        for module in links[links.index(layer) + 1 :]:
            name, position = next((v for k, v in TAKES.items() if module.kind.startswith(k)), ("", 0))
            if not name:
                continue
            given = module.settings.get(name)
            size = given[-1] if isinstance(given, list | tuple) else given
            if (
                isinstance(size, int)
                and size % width == 0
                and (size == width or _is_flattened(layer, module))
            ):
                found.append((module, name, position, size // width))
            if "Norm" not in module.kind:
                break
        return found if found and "Norm" not in found[-1][0].kind else []

    def _widened(self, case: Case, layer: ModuleFact, width: int) -> Faces:
        name = "out_features" if "out_features" in layer.settings else "out_channels"
        wanted = [(layer, name, 1, 1), *self._takers(case, layer)]
        faces = [
            set_argument(case.code, module.created, setting, str(width * times), position, case.arguments)
            for module, setting, position, times in wanted
        ]
        given = {face.arguments for face in faces if face.arguments is not None}
        if not all(faces) or len(given) > 1:
            return Faces()
        edits = united(face.edits for face in faces)
        return Faces(edits, united(face.forced or face.edits for face in faces), next(iter(given), None))

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a literal, with the layer behind",
            model="nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, ⟨1), nn.ReLU(), nn.Linear(1 → 64), nn.ReLU(), nn.Linear(64⟩, 1))",
            component="model.2",
        ),
        _example(
            "a default that both layers use",
            data="""
                def make(hidden=⟨2 → 32⟩):
                    return nn.Sequential(nn.Linear(20, hidden), nn.BatchNorm1d(hidden), nn.Tanh(), nn.Linear(hidden, 1))""",
            model="make()",
            component="model.0",
        ),
        _example(
            "wide enough, without a fault",
            model="nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))",
        ),
    )


def _width(layer: ModuleFact) -> int:
    return int(layer.settings.get("out_features") or layer.settings.get("out_channels") or 0)


def _is_flattened(layer: ModuleFact, module: ModuleFact) -> bool:
    return (
        module.kind == "Linear"
        and len((*layer.output_shapes, ())[0]) > 2
        and len((*module.input_shapes, ())[0]) == 2
    )
