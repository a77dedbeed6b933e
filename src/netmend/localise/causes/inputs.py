"""What the network is fed: values, scale and layout."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from netmend.diagnose.detectors.data_values import InputBadlyScaled, InputLayoutSuspect, InputNonfinite
from netmend.diagnose.examples.curves import flat, run_with, trace_of
from netmend.diagnose.measures.objective import objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Accusation, Cause, accuses, fault, for_symptom
from netmend.localise.effects import codes
from netmend.localise.lines.data_lines import input_origin, target_origin
from netmend.localise.outcome import hardly_trained, signs
from netmend.program.text.queries import last_name, site_of
from netmend.unit import convention
from netmend.vocabulary import Event, Evidence, Fault, Site, Symptom, Trace

# A run that was lost: nothing that is seen afterwards says anything about another fault.
_SPOILED = codes("D101 D107 D110 D122 D403 D410 D501 D502 D504 D505 D508 D511 D701")


class InvalidValuesInData(Cause, code="PRE-MISS-CLEAN"):
    """The data holds NaN or infinite values.

    The first batch with such a value makes the loss NaN, and the step after it every weight.
    Drop or fill the rows concerned before training, and check with `torch.isfinite(x).all()`.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D301"):
            evidence = [for_symptom(symptom, PROVEN)]
            spoiled = _spoiled(case.trace)
            if spoiled is None and (stopped := case.first("D701")) is not None:
                spoiled = stopped.first_step  # a loss that refuses what is no number
            if spoiled is None:
                text = "The loss stayed finite: the program seems to handle them."
                evidence.append(Evidence(text, -2 * STRONG))
            else:
                text = f"At step {spoiled} the loss or the weights were no longer finite, or the program stopped."
                evidence.append(Evidence(text, STRONG, step=spoiled))
            yield self._fault(case, symptom, evidence)
        yield from self._targets(case)
        yield from self._traced(case)

    def _traced(self, case: Case) -> Iterator[Fault]:
        """The first value that was not finite was traced back to what the model was given."""
        for symptom in case.of("D110"):
            if symptom.component != "input" or symptom.detail.get("grew") or case.has("D301"):
                continue
            yield self._fault(case, symptom, [for_symptom(symptom, PROVEN)])

    def _targets(self, case: Case) -> Iterator[Fault]:
        bad = [
            batch
            for batch in case.trace.batches
            if batch.target_mean is not None and not np.isfinite(batch.target_mean)
        ]
        if not bad or case.has("D301"):
            return
        message = f"The targets of the batch at step {bad[0].step} were not all finite."
        yield fault(
            self.code,
            [Evidence(message, PROVEN + STRONG, step=bad[0].step)],
            component="targets",
            site=target_origin(case),
            summary=message,
            reason="One such value turns the loss into NaN, then every gradient, then every weight.",
            remedy="Remove or fill the targets that are not finite before training.",
            refutation="`torch.isfinite(y).all()` holds for every batch.",
            explains=_SPOILED,
        )

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        return self.fault(
            symptom,
            evidence,
            site=input_origin(case),
            reason="One such value turns the loss into NaN, then every gradient, then every weight.",
            remedy="Remove or fill the rows that are not finite before training, for example `x = torch.nan_to_num(x)`, and find out where they come from.",
            refutation="`torch.isfinite(x).all()` holds for every batch.",
            related=(symptom.site,),
            explains=_SPOILED,
        )

    FAULTY = {
        "NaN in some rows": lambda: _with_bad_values(),
        "NaN in one row, found by the replay": lambda: _seen_late(),
    }


def _spoiled(trace: Trace) -> int | None:
    """The first step at which something other than the input was not finite."""
    steps = [event.step for event in trace.events if event.kind == "nonfinite"]
    for table in trace.tables_of("step"):
        losses = table.column("loss")
        there = np.flatnonzero(~np.isfinite(losses) & (table.column("backwards") > 0))
        steps.extend(int(table.steps[index]) for index in there[:1])
    return min(steps, default=None)


def _with_bad_values() -> Trace:
    event = Event(1, "nonfinite", "The input was not finite.")
    return trace_of(event, onto=InputNonfinite.FAULTY[0].trace)


def _seen_late() -> Trace:
    """The batch with NaN was not looked at when it came; the replay of the step that failed found it."""
    message = "The loss became NaN at step 20: first made by the input of the model"
    losses = [1.0, 0.9, 0.8, 0.8] * 5 + [float("nan")] * 20
    return trace_of(Event(20, "nonfinite", message, "input"), onto=run_with(losses))


# What unscaled inputs do to a network: any of these beside them turns a curiosity into a fault.
_HARM = codes("D130 D501 D502 D503 D101 D103 D104 D105 D109 D110 D115 D412 D504 D508 D511")


# What steps that are too few or too small look like as well: then it says nothing about the inputs.
_SLOWNESS = ("D501", "D504", "D508", "D109", "D511")


class InputsNotNormalised(Cause, code="PRE-MISS-NORM"):
    """The inputs are not normalised.

    Raw pixels, prices or counts drive the first layer far outside of the range that its initial weights are made for: units die or saturate, and the
    learning rate that suits one feature is wrong for the others. Subtract the training mean and divide by the training standard deviation.
    """

    good_relative = convention(0.25, "a program that learns as well as that is not hindered")
    poor_relative = convention(0.35, "a loss this high at the end leaves much to learn")
    wild_start = convention(3.0, "a first loss that high: the inputs' size reaches the output")
    large_factor = convention(4.0, "times the limit from which size alone weighs more")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D302"):
            evidence = [for_symptom(symptom, STRONG)]
            far = (symptom.observed or 0.0) > self.large_factor * (symptom.limit or float("inf"))
            if far:
                text = f"The inputs are about {symptom.observed:.2g} times too large."
                evidence.append(Evidence(text, FAIR))
            if _normed_behind_first_layer(case.trace):
                text = "The first layer's output is normalised: one scale of all inputs has no effect on it."
                evidence.append(Evidence(text, -STRONG))
            unseen = _SLOWNESS if hardly_trained(case) else ()
            harm = signs(case, FAIR, *(code for code in _HARM if code not in unseen))
            evidence += harm[:2]
            evidence += self._of_the_course(case, far, bool(harm), bool(unseen))
            yield self.fault(
                symptom,
                evidence,
                site=symptom.site or input_origin(case),
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

    FAULTY = {"raw pixels, nothing learned": lambda: _with_features()}


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


def _with_features() -> Trace:
    trace, pixels = run_with(flat(200)), InputBadlyScaled.FAULTY[0].trace
    return Trace({**trace.facts, **pixels.facts}, trace.tables, batches=pixels.batches)


@accuses("INP-LAYER-SHAPE", InputLayoutSuspect)
def images_in_wrong_layout(case: Case, symptom: Symptom) -> Accusation:
    """Images reach a convolution in the wrong layout.

    reshape() and view() keep the order of the numbers and only count them differently; they do not move axes. Pictures of height × width × channels must be
    permuted: `x.permute(0, 3, 1, 2)`.
    """
    site = _reshape_line(case) or input_origin(case)
    return Accusation(
        STRONG + WEAK,
        site=site,
        reason="Convolutions compare neighbouring pixels; here adjacent numbers do not belong to neighbouring pixels.",
        remedy="Move the axes instead of reshaping: `x.permute(0, 3, 1, 2)` in place of `reshape` or `view`.",
        refutation="A few images drawn as the network sees them look right.",
        related=(symptom.site, input_origin(case)),
        explains=("D504", "D501", "D508", "D506"),
    )


def _reshape_line(case: Case) -> Site | None:
    """The only kind of call that makes four axes without moving any."""
    model = next(iter(case.trace.models), None)
    near = "" if model is None or model.called is None else model.called.file
    for file in case.sources.files(near=near):
        for call in case.sources.calls_named(file, "reshape", "view"):
            sizes = (
                call.args[0].elts
                if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple)
                else call.args
            )
            if len(sizes) == 4 and not last_name(call.func).startswith("_"):
                return site_of(file, call)
    return None
