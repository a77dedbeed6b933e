"""D111 InitSymmetric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import RECTIFIERS, Link, chain
from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import ParameterFact, Statistics, Symptom, Trace

_HALF = {"initial": Statistics(0.5, 0.0, 0.5, 0.5, 0.5, 0.0, 0), "symmetric_share": 1.0}
_ZERO = {"initial": Statistics(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0), "symmetric_share": 1.0}


@register
class InitSymmetric:
    """All units of a hidden layer start with the same weights.

    Units that start alike and feed the next layer alike get the same gradient and stay alike: the layer works as if it had one unit. Usual
    causes: weights set to a constant or to zero. A layer of zeros beside another way for the signal (LoRA, residual branches), or at the
    output, is done on purpose and does no harm; where it is the only way, all samples look the same behind it, and a rectifier there passes
    neither signal nor gradient.
    """

    code: ClassVar[str] = "D111"

    share_limit: float = threshold(0.99, "exact", "share of units whose weights equal another unit's")
    same_limit: float = threshold(
        1e-6,
        "exact",
        "spread over samples, relative: single-precision rounding of none; any other way leaves more",
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
            yield Symptom(
                self.code,
                f"All {weight.shape[0]} units of {link.name} start with the same weights ({value:g}){both}.",
                component=link.name,
                first_step=0,
                observed=weight.symmetric_share,
                limit=self.share_limit,
                site=link.site,
                detail={
                    "value": value,
                    "partner": partner,
                    "units": weight.shape[0],
                    "cut": cut,
                    "dead": dead,
                },
            )

    def _alike(self, weight: ParameterFact) -> bool:
        # Told apart by values too: a tensor of one value has equal rows by definition.
        return (weight.symmetric_share or 0.0) >= self.share_limit or _constant(weight)

    def _same(self, trace: Trace, link: Link) -> bool:
        """Whether all samples looked the same there before anything was learned; of nothing but zeros no relative spread is known."""
        table = trace.table("activation", link.name)
        spread, zeros = table.column("sample_spread")[0], table.column("zero_share")[0]
        return bool(spread <= self.same_limit or zeros == 1.0)

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("random weights", lambda: net_run()),
        Run("an output layer of zeros", lambda: net_run(parameters={"model.4.weight": _ZERO})),
        Run(
            "zeros in a row of branches that the signal passes by",
            lambda: net_run(parameters={f"model.{n}.weight": _ZERO for n in (0, 2)}),
        ),
        Run("zeros before a random layer", lambda: net_run(parameters={"model.2.weight": _ZERO})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("all weights 0.5", lambda: net_run(parameters={f"model.{n}.weight": _HALF for n in (0, 2, 4)})),
        Run(
            "all weights zero",
            lambda: net_run(
                parameters={f"model.{n}.weight": _ZERO for n in (0, 2, 4)},
                gradients={0: 0.0, 2: 0.0, 4: 0.01},
            ),
        ),
        Run(
            "zeros that nothing passes",
            lambda: net_run(
                losses=flat(200),
                parameters={"model.0.weight": _ZERO},
                activations={1: {"sample_spread": 0.0, "silent_share": 1.0}},
            ),
        ),
    )


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
    later = (other for other in chain(trace) if other.model == link.model and other.position > link.position)
    return next((other for other in later if len(trace.table("activation", other.name))), None)


def _silent(trace: Trace, link: Link) -> bool:
    """Whether a rectifier gave nothing but zeros at all looks."""
    _, shares = trace.series("activation", link.name, "silent_share")
    return link.function in RECTIFIERS and len(shares) > 0 and float(shares.min()) >= 1.0
