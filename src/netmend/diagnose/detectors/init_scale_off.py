"""D112 InitScaleOff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import Link, chain
from netmend.diagnose.measures.depth import layer_weights
from netmend.diagnose.measures.motion import before_norm
from netmend.diagnose.measures.motion import gain as gain_of
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import ParameterFact, Symptom, Trace


@register
class InitScaleOff:
    """Weights start far too large or far too small for the number of inputs of a unit.

    Weights of size 1/sqrt(inputs) keep a signal's size from layer to layer; much larger ones saturate units and blow the loss up, much smaller
    ones let signal and gradient fade. Usual causes: a normal distribution with a fixed deviation, a scheme with a wrong gain.
    """

    code: ClassVar[str] = "D112"

    large_limit: float = threshold(
        4.5,
        "calibrated",
        "size times the root of the inputs; healthy programs stay below 1.5, whatever their scheme",
    )
    small_limit: float = threshold(
        0.03,
        "calibrated",
        "the same, for two hidden layers in a row, as one small layer is done on purpose; healthy programs stay above 0.11",
    )
    together_limit: float = threshold(
        100.0, "convention", "growth of a signal over all layers beyond what the largest usual scheme gives"
    )
    least_large: float = threshold(
        1.8, "convention", "the usual schemes give 1.67 (Xavier's for tanh) at most"
    )
    tiny_limit: float = threshold(1e-3, "convention", "one hidden layer this small passes nothing on")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        gains = self._gains(trace)
        deep = self._together(gains) > self.together_limit
        limit = self.least_large if deep else self.large_limit
        large = [(link, gain) for link, gain, _ in gains if gain > limit]
        small = [
            (link, gain)
            for index, (link, gain, head) in enumerate(gains)
            if not head
            and gain < self.small_limit
            and (gain < self.tiny_limit or self._next_small(gains, index))
        ]
        for found, word, limit in ((large, "large", self.large_limit), (small, "small", self.small_limit)):
            if not found:
                continue
            link, gain = (
                max(found, key=lambda item: item[1])
                if word == "large"
                else min(found, key=lambda item: item[1])
            )
            first = found[0][0]
            several = f" ({len(found)} layers)" if len(found) > 1 else ""
            yield Symptom(
                self.code,
                f"The weights of {link.name} start {gain / 0.58:.2g} times as large as usual for their number of inputs{several}.",
                component=first.name,
                first_step=0,
                observed=gain,
                limit=limit,
                site=first.site,
                detail={"direction": word, "layers": [item.name for item, _ in found]},
            )

    def _gains(self, trace: Trace) -> list[tuple[Link, float, bool]]:
        """Layers with the size of their weights times the root of their inputs, and whether it is the last of its model."""
        by_layer, normalised = layer_weights(trace), before_norm(trace)
        found: list[tuple[Link, ParameterFact]] = [
            (link, by_layer[link.name])
            for link in chain(trace)
            if link.kind in ("linear", "recurrent") and link.name in by_layer and not _transposed(link)
        ]
        return [
            (
                link,
                gain_of(p),
                index + 1 == len(found) or found[index + 1][0].model != link.model,
            )
            for index, (link, p) in enumerate(found)
            if link.name not in normalised
        ]

    def _together(self, gains: list[tuple[Link, float, bool]]) -> float:
        """By how much the layers of the deepest model that are somewhat too large blow a signal up together."""
        products: dict[str, float] = {}
        for link, gain, _ in gains:
            if gain > self.least_large:
                products[link.model] = products.get(link.model, 1.0) * gain / self.least_large
        return max(products.values(), default=1.0)

    def _next_small(self, gains: list[tuple[Link, float, bool]], index: int) -> bool:
        neighbours = gains[max(0, index - 1) : index] + gains[index + 1 : index + 2]
        return any(
            gain < self.small_limit and link.model == gains[index][0].model for link, gain, _ in neighbours
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        gains = [(gain, head) for _, gain, head in self._gains(trace)]
        hidden = [gain for gain, head in gains if not head]
        found = {"large_limit": max(gain for gain, _ in gains)} if gains else {}
        return found | ({"small_limit": sorted(hidden)[1]} if len(hidden) > 1 else {})

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the framework's own scheme", lambda: net_run()),
        Run("He's scheme", lambda: net_run(gain=1.41)),
        Run("a small output layer", lambda: net_run(gain={4: 0.001})),
        Run("one small layer", lambda: net_run(gain={2: 0.02})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("normal with deviation 1", lambda: net_run(gain={2: 8.0, 4: 8.0})),
        Run(
            "twofold per layer",
            lambda: net_run("Linear(9,32) ReLU " + "Linear(32,32) ReLU " * 8 + "Linear(32,4)", gain=4.0),
        ),
        Run("normal with deviation 0.0001", lambda: net_run(gain=0.0008)),
    )


def _transposed(link: Link) -> bool:
    """Transposed convolutions keep their inputs on another axis; grouped ones have few inputs by design."""
    return link.module is not None and link.module.kind.startswith("ConvTranspose")
