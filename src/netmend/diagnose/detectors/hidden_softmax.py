"""D119 HiddenSoftmax."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import ACROSS_UNITS, Link, activations, chain, in_sequence
from netmend.diagnose.measures.net_examples import net_run
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class HiddenSoftmax:
    """A hidden layer's units are squeezed by a softmax before the next layer with weights.

    The units then compete for a sum of one: each passes on about 1/width of the signal, gradients shrink by the same factor, and
    all but one unit can be switched off. Softmax belongs to the output or to attention weights.
    Usual causes: an output layer copied into the middle, "softmax for classification" in every layer.
    """

    code: ClassVar[str] = "D119"

    least_units: int = threshold(4, "convention", "a softmax over two or three is a gate or a mixture")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, ACROSS_UNITS):
            following = _next_layer(trace, link)
            before = _layer_before(trace, link)
            if (
                following is None
                or before is None
                or len(link.shape) < 2
                or link.shape[-1] < self.least_units
            ):
                continue
            sure = link.module is not None and following.module is not None
            sure = sure and in_sequence(trace, link.module, following.module)  # type: ignore[arg-type]
            yield Symptom(
                self.code,
                f"The {link.shape[-1]} hidden units of {before.name} go through {link.function} before {following.name}.",
                component=link.name,
                site=link.site,
                observed=float(link.shape[-1]),
                detail={"certain": sure, "before": before.name},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("no softmax", lambda: net_run()),
        Run("softmax at the output", lambda: net_run("Linear(10,64) ReLU Linear(64,4) Softmax")),
        Run("a gate over two experts", lambda: net_run("Linear(10,2) Softmax Linear(2,4)")),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "softmax in the middle", lambda: net_run("Linear(10,64) Softmax Linear(64,64) ReLU Linear(64,4)")
        ),
    )


def _layer_before(trace: Trace, link: Link) -> Link | None:
    """The layer whose output the softmax takes: the last one before it, of the same shape (a norm may lie between)."""
    before = [other for other in chain(trace) if other.model == link.model and other.position < link.position]
    for other in reversed(before):
        if other.kind in ("linear", "recurrent"):
            return other if other.shape == link.shape else None
        if other.kind not in ("transparent", "norm"):
            return None
    return None


def _next_layer(trace: Trace, link: Link) -> Link | None:
    """The linear layer that takes the softmax's output as it is."""
    for other in chain(trace):
        if other.model == link.model and other.position > link.position:
            if other.kind == "linear" and other.module is not None and other.module.input_shapes:
                return other if other.module.input_shapes[0] == link.shape else None
            if other.kind not in ("transparent", "norm"):
                return None
    return None
