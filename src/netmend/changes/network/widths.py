"""The width of a layer in the source: setting it together with that of the layers that take its output."""

from __future__ import annotations

from netmend.changes.case import Case
from netmend.changes.network.model_layers import TAKES, links_of, united
from netmend.program.source.values import Faces, set_argument
from netmend.vocabulary import ModuleFact

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
    edits, forced = (
        united(face.edits for face in faces),
        united(face.forced or face.edits for face in faces),
    )
    return Faces(edits, forced if forced != edits else (), next(iter(given), None))


def _is_flattened(layer: ModuleFact, module: ModuleFact) -> bool:
    return (
        module.kind == "Linear"
        and len((*layer.output_shapes, ())[0]) > 2
        and len((*module.input_shapes, ())[0]) == 2
    )
