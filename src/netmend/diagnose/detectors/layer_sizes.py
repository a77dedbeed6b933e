"""Layers through which too little of a sample fits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, flat, run_with, trace_of
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.chain import (
    SIGMOIDS,
    Link,
    activations,
    before,
    behind,
    chain,
    hidden_activations,
    links_of,
)
from netmend.diagnose.measures.objective import objective
from netmend.library.activations import ACROSS_UNITS
from netmend.library.layers import CONVOLUTIONS
from netmend.unit import convention, exact
from netmend.vocabulary import ModelFact, ModuleFact, ProbeFact, Site, Symptom, Trace

_STUCK = [*falling(100, end=0.7), *flat(100, 0.7)]


def _code_shown() -> Trace:
    """Two numbers per sample that are drawn as points, beside the scores made of them."""
    trace = net_run("Linear(20,64) ReLU Linear(64,2) ReLU Linear(2,10)", losses=_STUCK)
    return trace_of(replace(trace.models[0], output_shapes=((32, 2), (32, 10))), onto=trace)


def _adapter() -> Trace:
    trace = net_run("Linear(20,64) Linear(64,2) Linear(2,64) ReLU Linear(64,10)", losses=_STUCK)
    probe = ProbeFact("way around@model.1", "way around", "model.1")
    return trace_of(probe, onto=trace)


class Bottleneck(Detector, code="D120"):
    """Everything the network knows of a sample must pass through one or two hidden units, and little was learned.

    A rectifier unit more or less passes one number on, and nothing at all for half of the samples. Usual causes: a width mistyped, a test
    setting that was left in. The narrow code of an autoencoder is done on purpose and not judged; a head, a gate or a score that the rest
    goes around is no bottleneck.
    """

    width_limit = convention(2, "hidden units: two can hold a class out of a few at best")
    channel_limit = convention(1, "channels of a hidden feature map: one map holds one number for each place")
    ratio_limit = convention(4.0, "inputs of the layer over its units, and units before it")
    least_relative = convention(0.3, "below that of the constant prediction the width was enough")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if course is None or course.relative is None or float(course.relative[-1]) < self.least_relative:
            return
        links = [link for link in chain(trace) if link.kind == "linear"]
        around = {probe.component for probe in trace.probes("way around")}
        for link, following in itertools.pairwise(links):
            if link.model != following.model or not self._narrow(trace, link, following):
                continue
            if not _feeds(link, following) or link.name in around or _handed_out(trace, link):
                continue
            if _rebuilds(trace, link.model):
                continue
            width = _width(link, "out")
            message = (
                f"Layer {link.name} has only {width} unit{'s' if width > 1 else ''} for {_fan_in(link)} inputs, and all later layers see "
                "nothing else."
            )
            detail = {"width": width}
            yield self.symptom(message, link, float(width), float(self.width_limit), detail, first_step=0)

    def _narrow(self, trace: Trace, link: Link, following: Link) -> bool:
        outside = _width(link, "out")
        if link.module is not None and link.module.kind.startswith("Conv"):
            return (
                outside <= self.channel_limit
                and _fan_in(link) >= self.ratio_limit
                and not _gates(trace, link)
            )
        if outside == 1 and _width(following, "out") >= self.ratio_limit:
            return _width(link, "in") > 1  # one number is spread over many units again
        return 0 < outside <= self.width_limit and _width(link, "in") >= self.ratio_limit * outside

    HEALTHY = {
        "wide enough": lambda: net_run(losses=_STUCK),
        "narrow, but it learned": lambda: net_run("Linear(20,2) ReLU Linear(2,5)"),
        "the code of an autoencoder": lambda: net_run("Linear(20,2) ReLU Linear(2,20)", losses=_STUCK),
        "two outputs": lambda: net_run("Linear(20,16) ReLU Linear(16,2)", losses=_STUCK),
        "two heads on one body": lambda: net_run(
            "Linear(20,64) ReLU Linear(64,2) Linear(64,9)", losses=_STUCK
        ),
        "a gate": lambda: net_run("Linear(20,64) ReLU Linear(64,1) Sigmoid Linear(64,9)", losses=_STUCK),
        "a code that the model hands out": _code_shown,
        "an adapter that its block goes around": _adapter,
    }
    FAULTY = {
        "two units for ten classes": lambda: net_run(
            "Linear(20,64) ReLU Linear(64,2) ReLU Linear(2,10)", losses=_STUCK
        ),
        "one unit between two and many": lambda: net_run(
            "Linear(2,1) ReLU Linear(1,64) ReLU Linear(64,3)", losses=_STUCK
        ),
    }


def _feeds(link: Link, following: Link) -> bool:
    """Whether the next layer takes as many numbers as this one makes: branches of one body stand side by side."""
    made, taken = _width(link, "out"), _width(following, "in")
    channels = link.module is not None and link.module.kind.startswith("Conv")
    flattened = channels and following.module is not None and following.module.kind == "Linear"
    return taken % made == 0 if flattened and made else taken == made


def _handed_out(trace: Trace, link: Link) -> bool:
    """Whether the model returns what this layer makes, beside what the last layer makes of it."""
    fact = trace.get(ModelFact, link.model)
    return fact is not None and len(fact.output_shapes) > 1 and link.shape in fact.output_shapes


def _width(link: Link, side: str) -> int:
    settings = {} if link.module is None else link.module.settings
    return int(settings.get(f"{side}_features") or settings.get(f"{side}_channels") or 0)


def _fan_in(link: Link) -> int:
    """Values that one unit sees: all inputs, or the channels under the kernel."""
    settings = {} if link.module is None else link.module.settings
    kernel = settings.get("kernel_size")
    sides = [kernel] if isinstance(kernel, int) else list(kernel or ())
    return _width(link, "in") * math.prod(sides) // int(settings.get("groups") or 1)


def _gates(trace: Trace, link: Link) -> bool:
    """Whether the next operation turns the map into weights for others (attention over places): then it is meant to be one."""
    following = next(
        (other for other in behind(trace, link) if other.kind not in ("transparent", "norm")), None
    )
    return following is not None and following.function in (*SIGMOIDS, *ACROSS_UNITS)


def _rebuilds(trace: Trace, model: str) -> bool:
    """Whether the model's output is as wide as its input: it may rebuild it."""
    links = links_of(trace, model, "linear")
    fact = trace.get(ModelFact, model)
    shapes = fact is not None and fact.input_shapes[:1] == fact.output_shapes[:1] != ()
    return shapes or _width(links[0], "in") == _width(links[-1], "out")


_OVER_PLACES = {name: rank for rank, name in enumerate(CONVOLUTIONS, 1)}


def _convolutions(*layers: tuple[str, int, int], size: int = 12) -> Trace:
    """Convolutions (kind, channels, kernel) over maps of the given size."""
    made, before = [], 3
    for index, (kind, channels, kernel) in enumerate(layers):
        axes = _OVER_PLACES[kind]
        layer = ModuleFact(
            f"net.conv{index}",
            kind,
            model="net",
            settings={"in_channels": before, "out_channels": channels, "kernel_size": [kernel] * axes},
            order=index,
            created=Site("train.py", 9 + index),
            input_shapes=((16, before, *[size] * axes),),
        )
        made.append(layer)
        before = channels
    return trace_of(*made, onto=run_with(flat(200, 0.95)))


class PointwiseKernels(Detector, code="D127"):
    """No convolution of the network has a kernel larger than 1.

    With kernels of 1 every pixel is turned into features by itself; what distinguishes images, edges and shapes, lies in how neighbours differ. Such
    layers belong between others, to mix channels. Usual causes: a kernel size mistyped, a number of the wrong position.
    """

    least_places = convention(
        16, "places of a map: on smaller ones the following linear layer sees enough of them"
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
            message = (
                f"{number} of {model or 'the model'} {'have' if len(layers) > 1 else 'has'} a kernel of 1: on maps of {places} places each "
                "one is processed in isolation."
            )
            detail = {"layers": [module.name for module in layers]}
            yield self.symptom(message, first.name, 1.0, 1.0, detail, first_step=0, site=first.created)

    HEALTHY = {
        "kernels of 3": lambda: _convolutions(("Conv2d", 8, 3), ("Conv2d", 16, 3)),
        "one of them mixes channels": lambda: _convolutions(("Conv2d", 8, 3), ("Conv2d", 16, 1)),
        "points of a cloud": lambda: _convolutions(("Conv1d", 8, 1), ("Conv1d", 16, 1), size=64),
        "on maps of one place": lambda: _convolutions(("Conv2d", 8, 1), size=1),
    }
    FAULTY = {"two layers with kernels of 1": lambda: _convolutions(("Conv2d", 8, 1), ("Conv2d", 16, 1))}


def _kernel(module: ModuleFact) -> int:
    """The longest side of a layer's kernel; 0 where it is not known."""
    size: Any = module.settings.get("kernel_size")
    if isinstance(size, int):
        return size
    return max((int(side) for side in size), default=0) if isinstance(size, list | tuple) else 0


def _looks_round(module: ModuleFact) -> bool:
    """Layers of other kinds that let places see each other."""
    return module.kind.startswith(("ConvTranspose", "Unfold", "MultiheadAttention", "RNN", "LSTM", "GRU"))


_NET = "Linear(10,64) ReLU Linear(64,64) Sigmoid Linear(64,4)"
_SQUEEZED = {2: {"sample_spread": 0.5}, 3: {"sample_spread": 0.06}, 4: {"sample_spread": 0.05}}


class SamplesSqueezedTogether(Detector, code="D128"):
    """After a hidden sigmoid all samples look nearly alike.

    A sigmoid moves everything to about one half and passes on a quarter of the differences at best: what the next layer sees is a large
    constant with a little signal on it. Layers behind it first learn the constant, and rectifiers there die from it. Networks learn in spite
    of it, more slowly, so this is no fault by itself; it is one where the run went badly.
    Usual causes: a sigmoid or hard sigmoid in place of a rectifier, in one layer or in all.
    """

    loss_limit = exact(
        3.0,
        "differences between samples, relative to their size, before over behind it; inputs of variance 1 lose a factor of 2.6",
    )
    looks = convention(3, "from the start: how weights begin, not what they became")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, SIGMOIDS):
            found = self._lost(trace, link)
            if found is None or found < self.loss_limit:
                continue
            others = [
                other for other in hidden_activations(trace, link.model) if other.function not in SIGMOIDS
            ]
            message = (
                f"Differences between samples shrink {found:.2g}-fold in {link.name} ({link.function}): relative to their size, "
                "samples look nearly alike after it."
            )
            detail = {
                "function": link.function,
                "odd": bool(others),
                "map": len(link.shape) > 2,
                "others": sorted({other.function for other in others}),
            }
            yield self.symptom(message, link, found, self.loss_limit, detail, first_step=0)

    def _lost(self, trace: Trace, link: Link) -> float | None:
        """The shrinkage, if what comes next gets no more: a gate is multiplied with a signal that keeps its differences."""
        alike = [other for other in before(trace, link) if other.shape == link.shape]
        layers = [other for other in behind(trace, link) if other.kind == "linear"]
        if not alike or not layers:
            return None
        entering, passed, next_layer = (self._spread(trace, each) for each in (alike[-1], link, layers[0]))
        if entering is None or passed is None or next_layer is None or passed <= 0 or next_layer <= 0:
            return None
        return min(entering / passed, entering / next_layer)

    def _spread(self, trace: Trace, link: Link) -> float | None:
        _, spreads = trace.series("activation", link.name, "sample_spread")
        return float(np.median(spreads[: self.looks])) if len(spreads) >= self.looks else None

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        lost = [
            found for link in activations(trace, SIGMOIDS) if (found := self._lost(trace, link)) is not None
        ]
        return {"loss_limit": max(lost)} if lost else {}

    HEALTHY = {
        "rectifiers": lambda: net_run(),
        "a gate: the next layer gets the differences all the same": lambda: net_run(
            _NET, activations={**_SQUEEZED, 4: {"sample_spread": 0.5}}
        ),
        "inputs of variance 1": lambda: net_run(
            _NET,
            activations={2: {"sample_spread": 1.0}, 3: {"sample_spread": 0.38}, 4: {"sample_spread": 0.4}},
        ),
    }
    FAULTY = {"a sigmoid among rectifiers": lambda: net_run(_NET, activations=_SQUEEZED)}
