"""How the weights start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import flat
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.chain import RECTIFIERS, Link, behind, chain, last_weighted
from netmend.diagnose.measures.depth import layer_weights
from netmend.diagnose.measures.motion import before_norm
from netmend.diagnose.measures.motion import gain as gain_of
from netmend.diagnose.measures.objective import start
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import ParameterFact, Statistics, Symptom, Trace

_HALF = {"initial": Statistics(0.5, 0.0, 0.5, 0.5, 0.5, 0.0, 0), "symmetric_share": 1.0}
_ZERO = {"initial": Statistics(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0), "symmetric_share": 1.0}


class InitSymmetric(Detector, code="D111"):
    """All units of a hidden layer start with the same weights.

    Units that start alike and feed the next layer alike get the same gradient and stay alike: the layer works as if it had one unit. Usual
    causes: weights set to a constant or to zero. A layer of zeros beside another way for the signal (LoRA, residual branches), or at the
    output, is done on purpose and does no harm; where it is the only way, all samples look the same behind it, and a rectifier there passes
    neither signal nor gradient.
    """

    share_limit = exact(0.99, "share of units whose weights equal another unit's")
    same_limit = exact(
        1e-6, "spread over samples, relative: single-precision rounding of none; any other way leaves more"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        layers = _layers(trace)
        for (link, weight), following in zip(layers, [*layers[1:], None], strict=False):
            hidden = following is not None and following[0].model == link.model
            if not hidden or following is None or not self._alike(weight) or weight.shape[0] < 2:
                continue
            partner = _constant(following[1])
            zeros = (weight.initial.zero_share or 0.0) == 1.0
            if zeros and partner and _flows_at_once(trace, weight):
                continue  # the gradient has another way than through the zeros of the next layer
            behind = _behind(trace, link)
            cut = zeros and behind is not None and self._same(trace, behind)
            if zeros and not partner and not cut:
                continue  # zeros beside another way, or before a random layer: the gradient tells the units apart at once
            dead = cut and behind is not None and _silent(trace, behind)
            value = weight.initial.mean or 0.0
            both = f", and so does {following[0].name} after it" if partner else ""
            both += (
                f"; {behind.name} after it is zero for every sample, to the end" if dead and behind else ""
            )
            message = (
                f"All {weight.shape[0]} units of {link.name} start with the same weights ({value:g}){both}."
            )
            detail = {"value": value, "partner": partner, "cut": cut, "dead": dead}
            yield self.symptom(message, link, weight.symmetric_share, self.share_limit, detail, first_step=0)

    def _alike(self, weight: ParameterFact) -> bool:
        # Told apart by values too: a tensor of one value has equal rows by definition.
        return (weight.symmetric_share or 0.0) >= self.share_limit or _constant(weight)

    def _same(self, trace: Trace, link: Link) -> bool:
        """Whether all samples looked the same there before anything was learned; of nothing but zeros no relative spread is known."""
        table = trace.table("activation", link.name)
        spread, zeros = table.column("sample_spread")[0], table.column("zero_share")[0]
        return bool(spread <= self.same_limit or zeros == 1.0)

    HEALTHY = {
        "random weights": lambda: net_run(),
        "an output layer of zeros": lambda: net_run(parameters={"model.4.weight": _ZERO}),
        "zeros in a row of branches that the signal passes by": lambda: net_run(
            parameters={f"model.{n}.weight": _ZERO for n in (0, 2)}
        ),
        "zeros before a random layer": lambda: net_run(parameters={"model.2.weight": _ZERO}),
    }
    FAULTY = {
        "all weights 0.5": lambda: net_run(parameters={f"model.{n}.weight": _HALF for n in (0, 2, 4)}),
        "all weights zero": lambda: net_run(
            parameters={f"model.{n}.weight": _ZERO for n in (0, 2, 4)}, gradients={0: 0.0, 2: 0.0, 4: 0.01}
        ),
        "zeros that nothing passes": lambda: net_run(
            losses=flat(200),
            parameters={"model.0.weight": _ZERO},
            activations={1: {"sample_spread": 0.0, "silent_share": 1.0}},
        ),
    }


def _flows_at_once(trace: Trace, weight: ParameterFact) -> bool:
    """Whether the first gradient was other than zero: behind a layer of zeros, in a row, there is none."""
    table = trace.table("gradient", weight.name)
    return bool(len(table)) and int(table.steps[0]) == 0 and float(table.column("rms")[0]) > 0


def _layers(trace: Trace) -> list[tuple[Link, ParameterFact]]:
    """Linear and recurrent layers with their trainable weight, in order of execution; recurrent ones feed themselves."""
    found = []
    for link in chain(trace):
        if link.kind not in ("linear", "recurrent"):
            continue
        own = [p for p in trace.parameters if p.module == link.name and len(p.shape) >= 2 and p.trainable]
        if own:
            found.append((link, own[0]))
    return found


def _constant(weight: ParameterFact) -> bool:
    start = weight.initial
    return start.minimum is not None and start.minimum == start.maximum


def _behind(trace: Trace, link: Link) -> Link | None:
    """The next operation of the model that was measured: what comes straight after the layer."""
    return next((other for other in behind(trace, link) if len(trace.table("activation", other.name))), None)


def _silent(trace: Trace, link: Link) -> bool:
    """Whether a rectifier gave nothing but zeros at all looks."""
    _, shares = trace.series("activation", link.name, "silent_share")
    return link.function in RECTIFIERS and len(shares) > 0 and float(shares.min()) >= 1.0


class InitScaleOff(Detector, code="D112"):
    """Weights start far too large or far too small for the number of inputs of a unit.

    Weights of size 1/sqrt(inputs) keep a signal's size from layer to layer; much larger ones saturate units and blow the loss up, much smaller
    ones let signal and gradient fade. Usual causes: a normal distribution with a fixed deviation, a scheme with a wrong gain.
    """

    large_limit = calibrated(
        4.5, "size times the root of the inputs; healthy programs stay below 1.5, whatever their scheme"
    )
    small_limit = calibrated(
        0.03,
        "the same, for two hidden layers in a row, as one small layer is done on purpose; healthy programs stay above 0.11",
    )
    together_limit = convention(
        100.0, "growth of a signal over all layers beyond what the largest usual scheme gives"
    )
    least_large = convention(1.8, "the usual schemes give 1.67 (Xavier's for tanh) at most")
    tiny_limit = convention(1e-3, "one hidden layer this small passes nothing on")

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
            message = f"The weights of {link.name} start {gain / 0.58:.2g} times as large as usual for their number of inputs{several}."
            detail = {"direction": word, "layers": [item.name for item, _ in found]}
            yield self.symptom(message, first, gain, limit, detail, first_step=0)

    def _gains(self, trace: Trace) -> list[tuple[Link, float, bool]]:
        """Layers with the size of their weights times the root of their inputs, and whether it is the last of its model."""
        by_layer, normalised = layer_weights(trace), before_norm(trace)
        found: list[tuple[Link, ParameterFact]] = [
            (link, by_layer[link.name])
            for link in chain(trace)
            if link.kind in ("linear", "recurrent") and link.name in by_layer and not _transposed(link)
        ]
        return [
            (link, gain_of(p), index + 1 == len(found) or found[index + 1][0].model != link.model)
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

    HEALTHY = {
        "the framework's own scheme": lambda: net_run(),
        "He's scheme": lambda: net_run(gain=1.41),
        "a small output layer": lambda: net_run(gain={4: 0.001}),
        "one small layer": lambda: net_run(gain={2: 0.02}),
    }
    FAULTY = {
        "normal with deviation 1": lambda: net_run(gain={2: 8.0, 4: 8.0}),
        "twofold per layer": lambda: net_run(
            "Linear(9,32) ReLU " + "Linear(32,32) ReLU " * 8 + "Linear(32,4)", gain=4.0
        ),
        "normal with deviation 0.0001": lambda: net_run(gain=0.0008),
    }


def _transposed(link: Link) -> bool:
    """Transposed convolutions keep their inputs on another axis; grouped ones have few inputs by design."""
    return link.module is not None and link.module.kind.startswith("ConvTranspose")


_LOW = {"initial": Statistics(-5.0, 0.0, 5.0, -5.0, -5.0, 0.0, 0)}
_PRIOR = {"initial": Statistics(-2.0, 0.0, 2.0, -2.0, -2.0, 0.0, 0)}
_FAR = [20.0 * 0.97**step + 0.3 for step in range(200)]


class BiasInitOff(Detector, code="D113", needs_fixed_data=True):
    """Biases start so far from zero that they swamp the layer's weights.

    Strongly negative biases switch rectifiers off for every input; large ones at the output make the first predictions far wrong. Usual causes: a
    constant filled into all biases, a prior for another task. A bias that makes the first loss lower (a class prior) is no fault.
    """

    size_limit = calibrated(
        4.0,
        "size of the biases over the spread of the layer's output over samples at the first step; healthy: below 1.5",
    )
    least_size = convention(
        1.0, "smaller ones are drowned by weights as soon as these grow; the usual scheme gives 0.58 at most"
    )
    start_limit = convention(
        2.0, "first loss over that of the constant prediction, from which an output bias counts as wrong"
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
            if ratio < self.size_limit or bias.initial.rms is None or bias.initial.rms < self.least_size:
                continue
            if head and not off:
                continue
            message = f"The biases of {link.name} start {shown}, {ratio:.1f} times as large as the differences between samples that its weights produce."
            detail = {"value": value, "head": head}
            yield self.symptom(message, link, ratio, self.size_limit, detail, first_step=0)

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
            # what the weights bring
            spread = float(table.column("sample_spread")[0] * table.column("rms")[0])
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

    HEALTHY = {
        "small random biases": lambda: net_run(),
        "a prior in the output bias": lambda: net_run(parameters={"model.4.bias": _PRIOR}),
    }
    FAULTY = {
        "hidden biases of -5": lambda: net_run(parameters={"model.0.bias": _LOW}),
        "an output bias far off": lambda: net_run(losses=_FAR, parameters={"model.4.bias": _LOW}),
    }
