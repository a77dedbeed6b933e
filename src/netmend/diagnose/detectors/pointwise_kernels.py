"""D127 PointwiseKernels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import flat, run_with
from netmend.unit import Run, threshold
from netmend.vocabulary import ModuleFact, Site, Symptom, Trace

_OVER_PLACES = {"Conv1d": 1, "Conv2d": 2, "Conv3d": 3}  # axes of places; a kernel may run over each of them


def _trace(*layers: tuple[str, int, int], size: int = 12) -> Trace:
    """Convolutions (kind, channels, kernel) over maps of the given size."""
    plain = run_with(flat(200, 0.95))
    made = {}
    before = 3
    for index, (kind, channels, kernel) in enumerate(layers):
        axes = _OVER_PLACES[kind]
        name = f"net.conv{index}"
        made[name] = ModuleFact(
            name,
            kind,
            model="net",
            settings={"in_channels": before, "out_channels": channels, "kernel_size": [kernel] * axes},
            order=index,
            created=Site("train.py", 9 + index),
            input_shapes=((16, before, *[size] * axes),),
        )
        before = channels
    return Trace(facts={**plain.facts, "module": made}, tables=plain.tables)


@register
class PointwiseKernels:
    """No convolution of the network has a kernel larger than 1.

    With kernels of 1 every pixel is turned into features by itself; what distinguishes images, edges and shapes, lies in how neighbours differ. Such
    layers belong between others, to mix channels. Usual causes: a kernel size mistyped, a number of the wrong position.
    """

    code: ClassVar[str] = "D127"

    least_places: int = threshold(
        16, "convention", "places of a map: on smaller ones the following linear layer sees enough of them"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        models = dict.fromkeys(module.model for module in trace.layers() if module.kind in _OVER_PLACES)
        for model in models:
            layers = [m for m in trace.layers() if m.model == model and m.kind in _OVER_PLACES]
            seen = [module for module in layers if module.order is not None and module.input_shapes]
            if not seen or any(_kernel(module) != 1 for module in layers):
                continue
            if any(_looks_round(module) for module in trace.layers() if module.model == model):
                continue
            # Over points or tokens in a row kernels of 1 are common: the same small network for each of them.
            first = min(seen, key=lambda module: module.order or 0)
            places = math.prod(first.input_shapes[0][2:])
            if first.kind == "Conv1d" or places < self.least_places:
                continue
            number = f"All {len(layers)} convolutions" if len(layers) > 1 else "The only convolution"
            yield Symptom(
                self.code,
                f"{number} of {model or 'the model'} {'have' if len(layers) > 1 else 'has'} a kernel of 1: on maps of {places} places each "
                "one is processed in isolation.",
                component=first.name,
                first_step=0,
                observed=1.0,
                limit=1.0,
                site=first.created,
                detail={"layers": [module.name for module in layers]},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("kernels of 3", lambda: _trace(("Conv2d", 8, 3), ("Conv2d", 16, 3))),
        Run("one of them mixes channels", lambda: _trace(("Conv2d", 8, 3), ("Conv2d", 16, 1))),
        Run("points of a cloud", lambda: _trace(("Conv1d", 8, 1), ("Conv1d", 16, 1), size=64)),
        Run("on maps of one place", lambda: _trace(("Conv2d", 8, 1), size=1)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("two layers with kernels of 1", lambda: _trace(("Conv2d", 8, 1), ("Conv2d", 16, 1))),
    )


def _kernel(module: ModuleFact) -> int:
    """The longest side of a layer's kernel; 0 where it is not known."""
    size: Any = module.settings.get("kernel_size")
    if isinstance(size, int):
        return size
    return max((int(side) for side in size), default=0) if isinstance(size, list | tuple) else 0


def _looks_round(module: ModuleFact) -> bool:
    """Layers of other kinds that let places see each other."""
    return module.kind.startswith(("ConvTranspose", "Unfold", "MultiheadAttention", "RNN", "LSTM", "GRU"))
