"""D113 BiasInitOff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
@dataclass(frozen=True)
class BiasInitOff:
    """Biases start so far from zero that they drown what the layer's weights say.

    Strongly negative biases switch rectifiers off for every input; large ones at the output make the first predictions far wrong. Usual causes: a
    constant filled into all biases, a prior for another task. A bias that makes the first loss lower (a class prior) is no fault.
    """

    code: ClassVar[str] = "D113"

    size_limit: float = threshold(
        4.0, "calibrated", "bias over the deviation of the layer's output at the first step; healthy hidden layers stay below 1.5"
    )
    least_size: float = threshold(0.5, "convention", "smaller biases are drowned by weights as soon as these grow")
    start_limit: float = threshold(
        2.0, "convention", "first loss over that of the constant answer, from which an output bias counts as wrong"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        begun = start(trace)
        off = begun is not None and (begun.first_relative or 1.0) > self.start_limit
        for link, bias, ratio in self._biases(trace):
            head = link.position >= last_weighted(trace, link.model)
            value = bias.initial.mean or 0.0
            if ratio < self.size_limit or bias.initial.rms is None or bias.initial.rms < self.least_size or (head and not off):
                continue
            yield Symptom(
                self.code,
                f"The biases of {link.name} start at {value:.3g}, {ratio:.1f} times the spread of its output.",
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
            _, stds = trace.series("activation", link.name, "std")
            if bias is not None and bias.trainable and bias.initial.mean is not None and len(stds) and stds[0] > 0:
                # Random biases spread the output themselves; only their common part shifts it.
                yield link, bias, abs(bias.initial.mean) / float(stds[0])

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        hidden = [
            ratio
            for link, bias, ratio in self._biases(trace)
            if link.position < last_weighted(trace, link.model) and (bias.initial.rms or 0.0) >= self.least_size
        ]
        return {"size_limit": max(hidden, default=0.0)}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("small random biases", net_run()),
        Run("a prior in the output bias", net_run(parameters={"model.4.bias": _PRIOR})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("hidden biases of -5", net_run(parameters={"model.0.bias": _LOW})),
        Run("an output bias far off", net_run(losses=_FAR, parameters={"model.4.bias": _LOW})),
    )
