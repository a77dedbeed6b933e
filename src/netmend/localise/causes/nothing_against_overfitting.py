"""LOS-REG-MISSING, DAT-LITTLE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.evaluation_curves import Overfitting
from netmend.diagnose.measures.data import epochs, training_loader, training_samples
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.causes.dropout_rate_wrong import dropouts
from netmend.localise.lines.data_origin import input_origin
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, FunctionFact, Site, Trace


@register
class NothingAgainstOverfitting:
    """The network memorises its training samples, and nothing prevents it.

    With far more weights than samples a network can store every answer instead of finding the rule; new samples are then
    answered ever more confidently wrong. Add weight decay, dropout or augmentation, use a smaller network or more data.
    """

    code: ClassVar[str] = "LOS-REG-MISSING"

    weights_per_sample: float = threshold(
        10.0, "convention", "weights per sample from which storing answers is easy"
    )
    low_rate: float = threshold(0.1, "published", "a dropout rate below that regularises hardly anything")
    many_epochs: float = threshold(60, "convention", "the same as for too many epochs")
    few_samples: int = threshold(150, "convention", "training samples that are few for any network")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D506"):
            trace = case.trace
            samples = training_samples(trace)
            weights = sum(model.trainable for model in trace.models)
            evidence = [for_symptom(symptom, STRONG)]
            if not regularised(trace):
                evidence.append(Evidence("There is no dropout and no weight decay.", FAIR))
            if samples and weights / samples >= self.weights_per_sample:
                evidence.append(Evidence(f"{weights:,} weights are trained on {samples:,} samples.", FAIR))
            if (broken := case.first("D502", "D110")) is not None:
                evidence.append(Evidence("The training loss itself rose.", -STRONG, broken.code))
            few = (
                samples is not None and samples <= self.few_samples
            )  # from so few nothing general can be learned
            if (never := case.first("D311")) is not None and not few:
                evidence.append(
                    Evidence("Evaluation was never better than a constant prediction.", -STRONG, never.code)
                )
            passes = epochs(trace)
            if passes is not None and passes >= self.many_epochs and case.has("D507"):
                evidence.append(Evidence(f"The data was seen {passes:.0f} times.", -WEAK))
            drops = [drop for drop in dropouts(trace) if drop.rate < self.low_rate]
            low, drop = bool(drops), drops[0].site if drops else None
            if low:
                evidence.append(Evidence(f"Dropout is there, but drops only {drops[0].rate:.0%}.", FAIR))
            little = not low and samples is not None and samples <= self.few_samples
            size = f" on {samples:,} samples" if samples else ""
            yield fault(
                "LYR-DROPOUT-RATE" if low else "DAT-LITTLE" if little else self.code,
                evidence,
                component=trace.models[0].name if trace.models else "model",
                site=drop if low else self._site(case, little),
                summary=symptom.message,
                reason=f"{weights:,} weights trained{size} can memorise every answer instead of generalising.",
                remedy="Add weight decay (about 1e-2 with AdamW) or dropout (0.2 to 0.5), shrink the network, stop early, or get "
                "more data.",
                refutation="Strong regularisation does not narrow the gap between training and evaluation loss.",
                related=[optimizer.created for optimizer in trace.optimizers],
                explains=("D507",),
            )

    @staticmethod
    def _site(case: Case, little: bool) -> Site | None:
        trace = case.trace
        loader = training_loader(trace)
        if little and loader is not None and loader.created is not None:
            return loader.created
        if little:
            return input_origin(case, inside=False)
        optimizer = next(iter(trace.optimizers), None)
        return optimizer.created if optimizer is not None else None

    FAULTY: ClassVar[tuple[Run, ...]] = Overfitting.FAULTY


def regularised(trace: Trace) -> bool:
    """Whether dropout or a weight decay worth the name is in use."""
    dropped = any("Dropout" in module.kind and module.settings.get("p", 0) > 0 for module in trace.layers())
    functional = any(function.kind == "dropout" for function in trace.all(FunctionFact))
    decayed = any(
        float(group.settings.get("weight_decay") or 0) >= 1e-4
        for optimizer in trace.optimizers
        for group in optimizer.groups
    )
    return dropped or functional or decayed
