"""PRE-MISS-NORM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.data_values import InputBadlyScaled
from netmend.diagnose.measures.examples import flat, run_with
from netmend.diagnose.measures.objective import objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.data_origin import input_origin
from netmend.localise.outcome import hardly_trained
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Trace

# What unscaled inputs do to a network: any of these beside them turns a curiosity into a fault.
_HARM = (
    "D130",
    "D501",
    "D502",
    "D503",
    "D101",
    "D103",
    "D104",
    "D105",
    "D109",
    "D110",
    "D115",
    "D412",
    "D504",
    "D508",
    "D511",
)


# What steps that are too few or too small look like as well: then it says nothing about the inputs.
_SLOWNESS = ("D501", "D504", "D508", "D109", "D511")


@register
class InputsNotNormalised:
    """The inputs are not normalised.

    Raw pixels, prices or counts drive the first layer far outside of the range that its initial weights are made for: units die or saturate, and the
    learning rate that suits one feature is wrong for the others. Subtract the training mean and divide by the training standard deviation.
    """

    code: ClassVar[str] = "PRE-MISS-NORM"

    good_relative: float = threshold(
        0.25, "convention", "a program that learns as well as that is not hindered"
    )
    poor_relative: float = threshold(0.35, "convention", "a loss this high at the end leaves much to learn")
    wild_start: float = threshold(
        3.0, "convention", "a first loss that high: the inputs' size reaches the output"
    )
    large_factor: float = threshold(4.0, "convention", "times the limit from which size alone weighs more")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D302"):
            evidence = [for_symptom(symptom, STRONG)]
            far = (symptom.observed or 0.0) > self.large_factor * (symptom.limit or float("inf"))
            if far:
                evidence.append(
                    Evidence(f"The inputs are about {symptom.observed:.2g} times too large.", FAIR)
                )
            if _normed_behind_first_layer(case.trace):
                evidence.append(
                    Evidence(
                        "The first layer's output is normalised: one scale of all inputs has no effect on it.",
                        -STRONG,
                    )
                )
            unseen = _SLOWNESS if hardly_trained(case) else ()
            harm = [found for code in _HARM if code not in unseen and (found := case.first(code)) is not None]
            evidence.extend(for_symptom(found, FAIR) for found in harm[:2])
            evidence += self._of_the_course(case, far, bool(harm), bool(unseen))
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=symptom.site or input_origin(case),
                summary=symptom.message,
                reason="Default initial weights expect inputs of about unit size; far larger ones saturate or blow up the first layer, and large features drown out small ones.",
                remedy="Subtract the mean and divide by the standard deviation of the training data, feature by feature, and do the same in evaluation (for pixels: divide by 255 first).",
                refutation="Standardising the inputs does not lower the loss.",
                related=[model.called for model in case.trace.models[:1]],
                explains=_HARM,
            )

    def _of_the_course(self, case: Case, far: bool, harm: bool, hardly: bool) -> list[Evidence]:
        """What the losses say: `far` beyond the limit, a first loss that shows it is reason enough, whatever was learned."""
        course = objective(case.trace)
        last = None if course is None else course.last_relative
        first = None if course is None or case.has("D305") else course.first_relative
        wild = []
        if first is not None and first > self.wild_start:
            text = f"Before any step the loss was {first:.3g} times that of the best constant prediction."
            wild = [Evidence(text, FAIR)]
        if last is not None and last < self.good_relative:
            text = f"The program learns anyway ({last:.2f})."
            return [*wild, Evidence(text, -FAIR)] if wild and far else [Evidence(text, -2 * STRONG)]
        if harm:
            return []
        poor = (last or 0.0) > self.poor_relative and not hardly
        return [
            Evidence("There is no sign that this hurts.", -FAIR if poor else -STRONG),
            *(wild if poor else []),
        ]

    FAULTY: ClassVar[tuple[Run, ...]]


def _normed_behind_first_layer(trace: Trace) -> bool:
    """A convolution whose channels are normalised at once: it sees the same picture whatever unit the pixels have."""
    order = sorted(
        (layer for layer in trace.layers() if layer.order is not None), key=lambda layer: layer.order or 0
    )
    return (
        len(order) > 1
        and order[0].kind.startswith("Conv")
        and order[1].kind.startswith(("BatchNorm", "GroupNorm", "InstanceNorm"))
    )


def _example() -> Trace:
    trace, pixels = run_with(flat(200)), InputBadlyScaled.FAULTY[0].trace
    return Trace({**trace.facts, **pixels.facts}, trace.tables, batches=pixels.batches)


InputsNotNormalised.FAULTY = (Run("raw pixels, nothing learned", lambda: _example()),)
