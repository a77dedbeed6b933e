"""M419."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.model_layers import united
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model, weighted
from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class KernelSizeWrong:
    """Reduce convolutions to single pixels.

    A kernel of 1 sees no neighbourhood: edges and shapes cannot be recognised.
    """

    code: ClassVar[str] = "M419"
    causes: ClassVar[tuple[str, ...]] = ("LYR-FILTER",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        layers = [
            m
            for m in ([] if model is None else weighted(case, model))
            if m.kind in ("Conv1d", "Conv2d")
            and _keeps_size(m.settings.get("kernel_size"), m.settings.get("padding"))
        ]
        faces = [
            face
            for layer in layers
            for face in (
                set_argument(case.code, layer.created, "kernel_size", "1", 2, case.arguments),
                set_argument(case.code, layer.created, "padding", "0", 4, case.arguments),
            )
        ]
        if faces and all(faces):
            edits = united(face.forced or face.edits for face in faces)
            yield from mutation(self, "kernels of 1", edits, component=layers[0].name, parameter="1")

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a convolution", FUNCTIONS, old="1, 4, 3, padding=1", new="1, 4, 1, padding=0"),
        Example("no convolution", STACK),
    )


def _keeps_size(kernel: object, padding: object) -> bool:
    """Whether padding makes up for the kernel, as no padding does for a kernel of 1."""
    sizes = kernel if isinstance(kernel, list | tuple) else [kernel]
    pads = padding if isinstance(padding, list | tuple) else [padding] * len(sizes)
    return all(
        isinstance(s, int) and isinstance(p, int) and s > 1 and s == 2 * p + 1
        for s, p in zip(sizes, pads, strict=False)
    )
