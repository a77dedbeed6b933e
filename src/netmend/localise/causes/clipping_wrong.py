"""OPT-CLIP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.clipping import ClippingMisplaced, _clipped
from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.diagnose.measures.wiring import stepped_optimizers
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.causes.accumulation_wrong import SCALED
from netmend.localise.effects import NOT_LEARNING, UNSTABLE, outcome
from netmend.localise.lines.follow import argument_origin
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, ModuleFact, Trace

_UNROLLED = (
    8  # calls of one layer in one forward pass: shared layers of other networks are called two or three times
)
_SGD_RATE, _ADAM_RATE = 0.1, 0.01  # what tutorials and papers use at most
_RECURRENT = ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")


@register
class ClippingWrong:
    """Gradient clipping is far too tight, or missing where gradients explode.

    A limit far below the usual norm turns every step into a tiny one; no limit at all lets single bursts of a recurrent network
    undo what was learned.
    Clip to about the usual norm of a healthy gradient, between backward() and step().
    """

    code: ClassVar[str] = "OPT-CLIP"

    def accuse(self, case: Case) -> Iterator[Fault]:
        yield from self._too_tight(case)
        yield from self._misplaced(case)
        yield from self._missing(case)

    def _too_tight(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D211"):
            evidence = [for_symptom(symptom, STRONG), *outcome(case, bad=STRONG, good=-STRONG)]
            scaled = {o.kind for o in stepped_optimizers(case.trace)}.intersection(SCALED)
            # Weight decay is added behind the clipping: against it even an optimiser that divides by the size has lost the data.
            if not scaled and not case.has("D117"):
                evidence.append(
                    Evidence(
                        "This optimiser divides by the gradient's size, so it hardly matters.", -2 * STRONG
                    )
                )
            slow = case.first("D102", "D508", "D501")
            if slow is not None:
                evidence.append(for_symptom(slow, FAIR))
            origin = argument_origin(case.sources, symptom.site, "max_norm", 1)
            limit, norm = float(symptom.detail["limit"]), float(symptom.detail["norm"])
            where = f" in {origin.site.short}" if origin is not None else ""
            yield fault(
                self.code,
                evidence,
                component="clip_grad_norm_",
                site=origin.site if origin is not None else symptom.site,
                summary=symptom.message,
                reason="Every step is cut to a tiny part of its length, so learning is slower by that factor.",
                remedy=f"Raise the limit from {limit:.3g} to about {_round(norm)}{where}.",
                refutation="The learning rate compensates for it.",
                related=[symptom.site],
                explains=(*NOT_LEARNING,),
            )

    def _misplaced(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D227"):
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + FAIR)],
                component="clip_grad_norm_",
                site=symptom.site,
                summary=symptom.message,
                reason="The step uses unclipped gradients: the limit has no effect.",
                remedy="Move the clipping between `backward()` and the optimiser's step.",
                refutation="Gradients are accumulated over several steps on purpose.",
                explains=("D103", "D502", "D503"),
            )

    def _missing(self, case: Case) -> Iterator[Fault]:
        burst = case.first("D103", "D110", "D107", "D101")
        recurrent = _recurrent(case.trace)
        if any(True for _ in calls(case.trace, "clip")) or recurrent is None or burst is None:
            return
        if not case.has("D110", "D502", "D503") or not _ordinary_rate(case.trace):
            return
        evidence = [
            for_symptom(burst, STRONG),
            Evidence(f"Gradients pass through `{recurrent.name}` once per time step.", FAIR + WEAK),
            Evidence("The learning rate is an ordinary one.", FAIR),
        ]
        backward = next(
            (call.site for _, call in calls(case.trace, "backward") if call.site is not None), None
        )
        yield fault(
            self.code,
            evidence,
            component=recurrent.name,
            site=backward,
            summary=f"Gradients explode, and nothing limits them: {burst.message}",
            reason="A recurrent layer multiplies gradients over many time steps; one burst can undo all training.",
            remedy="Call `torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)` between backward and step.",
            refutation="A lower learning rate alone fixes it.",
            related=[recurrent.created, *(optimizer.created for optimizer in case.trace.optimizers[:1])],
            explains=UNSTABLE,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *ClippingMisplaced.FAULTY,
        Run(
            "nothing is left",
            lambda: trained(optimizer(), _clipped(2.0, 1e-4), losses=[1.0] * 40),
        ),
    )


def _round(value: float) -> str:
    """One digit is all that can be said."""
    return f"{float(f'{value:.0e}'):g}"


def _recurrent(trace: Trace) -> ModuleFact | None:
    """A recurrent layer, or one that is called many times within one forward pass."""
    found = [m for m in trace.all(ModuleFact) if m.leaf and m.order is not None]
    return next((m for m in found if m.kind in _RECURRENT or m.calls >= _UNROLLED), None)


def _ordinary_rate(trace: Trace) -> bool:
    """Whether the rate is one that most networks of this kind are trained with."""
    for stepped in stepped_optimizers(trace):
        limit = _SGD_RATE if stepped.kind in SCALED else _ADAM_RATE
        rates = [group.settings.get("lr") for group in stepped.groups]
        if any(not isinstance(rate, int | float) or rate > limit for rate in rates):
            return False
    return True
