"""Too much or too little against overfitting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.diagnose.detectors.evaluation_curves import Overfitting
from netmend.diagnose.detectors.regularisation import RegulariserDominates
from netmend.diagnose.examples.curves import flat, run_with, trace_of
from netmend.diagnose.measures.batches import epochs, training_loader, training_samples
from netmend.diagnose.measures.loop import is_training, main_pattern
from netmend.diagnose.measures.objective import left
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.effects import codes
from netmend.localise.lines.data_lines import input_origin
from netmend.localise.lines.objective_terms import factor_line, penalty_line
from netmend.localise.lines.rates import Setting, rounded, setting
from netmend.localise.outcome import harm, rivals, signs
from netmend.program.settings import argument_origin
from netmend.unit import convention, published
from netmend.vocabulary import (
    Evidence,
    Fault,
    FunctionFact,
    LossFact,
    ModuleFact,
    OptimizerFact,
    Site,
    Symptom,
    Trace,
)

_EXPLAINS = codes("D101 D102 D104 D130 D106 D108 D109 D114 D117 D501 D504 D505 D508 D511")


class RegularisationTooStrong(Cause, code="LOS-REG-EXTRA"):
    """Regularisation is far too strong.

    It pulls the weights to zero harder than the data pulls them anywhere, so that the network ends up answering the same for everything.
    Remove it, or divide it by a hundred and go up again only against overfitting.
    """

    dominates = convention(
        3.0, "measured: the penalty's pull is the stronger one, weights shrank, little was learned"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D117"):
            evidence = [for_symptom(symptom, self.dominates), *harm(case)]
            evidence += [for_symptom(s, FAIR) for s in case.of("D108")[:1]]
            evidence += rivals(
                case, {"D211": "Clipping removes nearly all of the data's gradient."}, STRONG + FAIR
            )
            yield (
                self._decay(case, symptom, evidence)
                if symptom.detail.get("form") == "decay"
                else self._term(case, symptom, evidence)
            )

    def _decay(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        optimizer = case.trace.get(OptimizerFact, symptom.component)
        place = setting(case, optimizer, "weight_decay", None)
        value = float(symptom.detail.get("setting", 0.0))
        where = "" if place.site is None else f" in {place.site.short}"
        wanted = rounded(min(value / 100, 1e-2 if optimizer is not None and "W" in optimizer.kind else 1e-4))
        remedy = f"Change `weight_decay={value:g}` to about {wanted:g}{where}, or remove it."
        return self._fault(symptom, evidence, place, symptom.component, remedy)

    def _term(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        loss = case.trace.get(LossFact, symptom.component)
        near = None if loss is None else loss.called or loss.backward
        layer = str(symptom.detail.get("layer", ""))
        line = None if near is None else factor_line(case, penalty_line(case, near.file, layer))
        site = line or (None if loss is None else loss.backward)
        where = "" if site is None else f" in {site.short}"
        remedy = f"Remove the penalty on the weights{where}, or divide its factor by 100."
        return self._fault(
            symptom,
            evidence,
            Setting(site, "", () if near is None else (near,)),
            layer or symptom.component,
            remedy,
        )

    def _fault(
        self, symptom: Symptom, evidence: list[Evidence], place: Setting, component: str, remedy: str
    ) -> Fault:
        return self.fault(
            symptom,
            evidence,
            component=component,
            site=place.site,
            reason="The weights follow the penalty instead of the data and shrink until the output is the same for every input.",
            remedy=remedy,
            refutation="Removing the regularisation does not lower the loss.",
            related=place.related,
            explains=_EXPLAINS,
        )

    FAULTY = RegulariserDominates.FAULTY


@dataclass(frozen=True)
class _Dropout:
    name: str
    rate: float
    site: Site | None
    functional: bool
    last: bool  # nothing with weights follows it


class DropoutRateWrong(Cause, code="LYR-DROPOUT-RATE"):
    """The dropout rate is so high that hardly anything of the signal is left, or dropout hits the output itself.

    At a rate of 0.9 nine of ten units are silenced at every step: what is left carries little, and the loss in training stays high.
    Use 0.1 to 0.5 in hidden layers and none behind the last layer.
    """

    high_rate = published(0.65, "0.2 to 0.5 is what the inventors and every textbook advise")
    hopeless_rate = convention(
        0.9, "a rate at which nine of ten numbers are lost; below it some networks do well"
    )
    good_relative = convention(0.3, "a training loss below that is no victim of dropout")

    def accuse(self, case: Case) -> Iterator[Fault]:
        layers = [drop for drop in dropouts(case.trace) if drop.rate >= self.high_rate or drop.last]
        if not layers:
            return
        worst = max(layers, key=lambda drop: drop.rate)
        rate = worst.rate
        evidence = []
        if rate >= self.high_rate:
            evidence.append(Evidence(f"`{worst.name}` drops {rate:.0%} of its input.", STRONG))
        if worst.last:
            evidence.append(Evidence(f"`{worst.name}` comes after the last layer with weights.", STRONG))
        suffers = signs(case, STRONG, "D509") + signs(case, FAIR, "D605", "D501")
        suffers += signs(case, WEAK, "D504", "D508", "D503")
        evidence += suffers
        if not suffers and rate < self.hopeless_rate:
            evidence.append(Evidence("There is no sign that training suffers from it.", -FAIR))
        share = left(case.trace)
        if share is not None and share < self.good_relative:
            evidence.append(Evidence(f"The training loss gets low anyway ({share:.2f}).", -2 * STRONG))
        origin = argument_origin(case.sources, worst.site, "p", 1 if worst.functional else 0)
        yield fault(
            self.code,
            evidence,
            component=worst.name,
            site=worst.site if origin is None else origin.site,
            summary=f"`{worst.name}` silences {rate:.0%} of its input in training"
            + (", and nothing with weights follows it." if worst.last else "."),
            reason="Too little of the signal is left for the network to learn from.",
            remedy="Remove this dropout: it corrupts the output itself."
            if worst.last
            else f"Lower the rate from {rate:g} to between 0.1 and 0.5.",
            refutation="The training loss is no lower with a rate of 0.2.",
            related=(worst.site,),
            explains=("D509", "D605", "D504", "D508", "D501", "D503"),
        )

    FAULTY = {"0.95 in a hidden layer": lambda: _example()}


def dropouts(trace: Trace) -> Iterator[_Dropout]:
    """Every dropout that is really used, as a layer or as a call."""
    ending = _ending(trace)
    for module in trace.layers():
        if "Dropout" in module.kind and module.order is not None:
            rate = float(module.settings.get("p", 0.5))
            behind = (
                ending is not None and ending.model == module.model and module.order > (ending.order or 0)
            )
            if rate > 0:
                yield _Dropout(module.name, rate, module.created, False, behind)
    for function in trace.all(FunctionFact):
        if function.kind == "dropout":
            rate = float(function.settings.get("p", 0.5))
            if rate > 0:
                behind = ending is not None and function.after == ending.name
                yield _Dropout(function.name, rate, function.site, True, behind)


def _ending(trace: Trace) -> ModuleFact | None:
    """The last layer with weights of the network that is called last: what several in a row compute ends there."""
    pattern = main_pattern(trace)
    called = [call.component for call in pattern.calls if is_training(call)] if pattern is not None else []
    weighted = [
        module for module in trace.layers() if module.order is not None and _has_weights(trace, module)
    ]
    models = {module.model for module in weighted}
    final = next((name for name in reversed(called) if name in models), None)
    own = [module for module in weighted if final is None or module.model == final]
    return max(own, key=lambda module: module.order or 0, default=None)


def _has_weights(trace: Trace, module: ModuleFact) -> bool:
    return any(parameter.module == module.name for parameter in trace.parameters)


def _example() -> Trace:
    trace = run_with(flat(200, 0.9), evaluations=[0.6, 0.5, 0.35, 0.3])
    layer = ModuleFact("net.1", "Dropout", settings={"p": 0.95}, order=1, created=Site("train.py", 9))
    return trace_of(layer, onto=trace)


class NothingAgainstOverfitting(Cause, code="LOS-REG-MISSING"):
    """The network memorises its training samples, and nothing prevents it.

    With far more weights than samples a network can store every answer instead of finding the rule; new samples are then
    answered ever more confidently wrong. Add weight decay, dropout or augmentation, use a smaller network or more data.
    """

    weights_per_sample = convention(10.0, "weights per sample from which storing answers is easy")
    low_rate = published(0.1, "a dropout rate below that regularises hardly anything")
    many_epochs = convention(60, "the same as for too many epochs")
    few_samples = convention(150, "training samples that are few for any network")

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
            # from so few nothing general can be learned
            few = samples is not None and samples <= self.few_samples
            if (never := case.first("D311")) is not None and not few:
                text = "Evaluation was never better than a constant prediction."
                evidence.append(Evidence(text, -STRONG, never.code))
            passes = epochs(trace)
            if passes is not None and passes >= self.many_epochs and case.has("D507"):
                evidence.append(Evidence(f"The data was seen {passes:.0f} times.", -WEAK))
            drops = [drop for drop in dropouts(trace) if drop.rate < self.low_rate]
            low, drop = bool(drops), drops[0].site if drops else None
            if low:
                evidence.append(Evidence(f"Dropout is there, but drops only {drops[0].rate:.0%}.", FAIR))
            little = not low and samples is not None and samples <= self.few_samples
            size = f" on {samples:,} samples" if samples else ""
            yield self.fault(
                symptom,
                evidence,
                code="LYR-DROPOUT-RATE" if low else "DAT-LITTLE" if little else self.code,
                component=trace.models[0].name if trace.models else "model",
                site=drop if low else self._site(case, little),
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

    FAULTY = Overfitting.FAULTY


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
