"""D120 Bottleneck."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import ACROSS_UNITS, SIGMOIDS, Link, chain
from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import ModelFact, ProbeFact, Symptom, Trace

_STUCK = [*falling(100, end=0.7), *flat(100, 0.7)]


def _code_shown() -> Trace:
    """Two numbers per sample that are drawn as points, beside the scores made of them."""
    trace = net_run("Linear(20,64) ReLU Linear(64,2) ReLU Linear(2,10)", losses=_STUCK)
    (model,) = trace.models
    facts = {"model": {"model": replace(model, output_shapes=((32, 2), (32, 10)))}}
    return replace(trace, facts={**trace.facts, **facts})


def _adapter() -> Trace:
    trace = net_run("Linear(20,64) Linear(64,2) Linear(2,64) ReLU Linear(64,10)", losses=_STUCK)
    probe = ProbeFact("way around@model.1", "way around", "model.1")
    return replace(trace, facts={**trace.facts, "probe": {probe.name: probe}})


@register
class Bottleneck:
    """Everything the network knows of a sample must pass through one or two hidden units, and little was learned.

    A rectifier unit more or less passes one number on, and nothing at all for half of the samples. Usual causes: a width mistyped, a test
    setting that was left in. The narrow code of an autoencoder is done on purpose and not judged; a head, a gate or a score that the rest
    goes around is no bottleneck.
    """

    code: ClassVar[str] = "D120"

    width_limit: int = threshold(2, "convention", "hidden units: two can hold a class out of a few at best")
    channel_limit: int = threshold(
        1, "convention", "channels of a hidden feature map: one map holds one number for each place"
    )
    ratio_limit: float = threshold(
        4.0, "convention", "inputs of the layer over its units, and units before it"
    )
    least_relative: float = threshold(
        0.3, "convention", "below that of the constant prediction the width was enough"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if course is None or course.relative is None or float(course.relative[-1]) < self.least_relative:
            return
        links = [link for link in chain(trace) if link.kind == "linear"]
        around = {probe.component for probe in trace.probes("way around")}
        for link, following in itertools.pairwise(links):
            if (
                link.model != following.model
                or not self._narrow(trace, link, following)
                or not _feeds(link, following)
                or link.name in around
                or _handed_out(trace, link)
                or _rebuilds(trace, link.model)
            ):
                continue
            width = _width(link, "out")
            yield Symptom(
                self.code,
                f"Layer {link.name} has only {width} unit{'s' if width > 1 else ''} for {_fan_in(link)} inputs, and all later layers see "
                "nothing else.",
                component=link.name,
                first_step=0,
                observed=float(width),
                limit=float(self.width_limit),
                site=link.site,
                detail={"width": width},
            )

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

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("wide enough", lambda: net_run(losses=_STUCK)),
        Run("narrow, but it learned", lambda: net_run("Linear(20,2) ReLU Linear(2,5)")),
        Run("the code of an autoencoder", lambda: net_run("Linear(20,2) ReLU Linear(2,20)", losses=_STUCK)),
        Run("two outputs", lambda: net_run("Linear(20,16) ReLU Linear(16,2)", losses=_STUCK)),
        Run(
            "two heads on one body",
            lambda: net_run("Linear(20,64) ReLU Linear(64,2) Linear(64,9)", losses=_STUCK),
        ),
        Run("a gate", lambda: net_run("Linear(20,64) ReLU Linear(64,1) Sigmoid Linear(64,9)", losses=_STUCK)),
        Run("a code that the model hands out", _code_shown),
        Run("an adapter that its block goes around", _adapter),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "two units for ten classes",
            lambda: net_run("Linear(20,64) ReLU Linear(64,2) ReLU Linear(2,10)", losses=_STUCK),
        ),
        Run(
            "one unit between two and many",
            lambda: net_run("Linear(2,1) ReLU Linear(1,64) ReLU Linear(64,3)", losses=_STUCK),
        ),
    )


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
    later = [other for other in chain(trace) if other.model == link.model and other.position > link.position]
    following = next((other for other in later if other.kind not in ("transparent", "norm")), None)
    return following is not None and following.function in (*SIGMOIDS, *ACROSS_UNITS)


def _rebuilds(trace: Trace, model: str) -> bool:
    """Whether the model's output is as wide as its input: it may rebuild it."""
    links = [link for link in chain(trace) if link.model == model and link.kind == "linear"]
    fact = trace.get(ModelFact, model)
    shapes = fact is not None and fact.input_shapes[:1] == fact.output_shapes[:1] != ()
    return shapes or _width(links[0], "in") == _width(links[-1], "out")
