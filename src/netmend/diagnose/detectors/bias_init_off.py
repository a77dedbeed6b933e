"""D113 BiasInitOff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import Link, chain, last_weighted
from netmend.diagnose.measures.motion import before_norm
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.start import start
from netmend.unit import Run, threshold
from netmend.vocabulary import ParameterFact, Statistics, Symptom, Trace

_LOW = {"initial": Statistics(-5.0, 0.0, 5.0, -5.0, -5.0, 0.0, 0)}
_PRIOR = {"initial": Statistics(-2.0, 0.0, 2.0, -2.0, -2.0, 0.0, 0)}
_FAR = [20.0 * 0.97**step + 0.3 for step in range(200)]


@register
class BiasInitOff:
    """Biases start so far from zero that they swamp the layer's weights.

    Strongly negative biases switch rectifiers off for every input; large ones at the output make the first predictions far wrong. Usual causes: a
    constant filled into all biases, a prior for another task. A bias that makes the first loss lower (a class prior) is no fault.
    """

    code: ClassVar[str] = "D113"

    size_limit: float = threshold(
        4.0,
        "calibrated",
        "size of the biases over the spread of the layer's output over samples at the first step; healthy: below 1.5",
    )
    least_size: float = threshold(
        1.0,
        "convention",
        "smaller ones are drowned by weights as soon as these grow; the usual scheme gives 0.58 at most",
    )
    start_limit: float = threshold(
        2.0,
        "convention",
        "first loss over that of the constant prediction, from which an output bias counts as wrong",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        begun = start(trace)
        off = begun is not None and (begun.first_relative or 1.0) > self.start_limit
        for link, bias, ratio in self._biases(trace):
            head = link.position >= last_weighted(trace, link.model)
            value = bias.initial.mean or 0.0
            shown = (
                f"at {value:.3g}"
                if abs(value) > 0.5 * (bias.initial.rms or 0.0)
                else f"between {bias.initial.minimum:.3g} and {bias.initial.maximum:.3g}"
            )
            if (
                ratio < self.size_limit
                or bias.initial.rms is None
                or bias.initial.rms < self.least_size
                or (head and not off)
            ):
                continue
            yield Symptom(
                self.code,
                f"The biases of {link.name} start {shown}, {ratio:.1f} times as large as the differences between samples that its weights produce.",
                component=link.name,
                first_step=0,
                observed=ratio,
                limit=self.size_limit,
                site=link.site,
                detail={"value": value, "head": head, "parameter": bias.name},
            )

    def _biases(self, trace: Trace) -> Iterator[tuple[Link, ParameterFact, float]]:
        """Biases of linear layers with their size relative to what the weights bring; those before a norm have no effect."""
        normalised = before_norm(trace)
        for link in chain(trace):
            if link.kind != "linear" or link.name in normalised:
                continue
            bias = trace.get(ParameterFact, f"{link.name}.bias")
            table = trace.table("activation", link.name)
            if bias is None or not bias.trainable or bias.initial.rms is None or not len(table):
                continue
            spread = float(
                table.column("sample_spread")[0] * table.column("rms")[0]
            )  # what the weights bring
            if spread > 0:
                yield link, bias, bias.initial.rms / spread

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        hidden = [
            ratio
            for link, bias, ratio in self._biases(trace)
            if link.position < last_weighted(trace, link.model)
            and (bias.initial.rms or 0.0) >= self.least_size
        ]
        return {"size_limit": max(hidden, default=0.0)}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("small random biases", lambda: net_run()),
        Run("a prior in the output bias", lambda: net_run(parameters={"model.4.bias": _PRIOR})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("hidden biases of -5", lambda: net_run(parameters={"model.0.bias": _LOW})),
        Run("an output bias far off", lambda: net_run(losses=_FAR, parameters={"model.4.bias": _LOW})),
    )
