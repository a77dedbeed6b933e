"""Training and evaluation mode, dropout that stays on, gradients switched off, statistics of norm layers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from netmend.diagnose.detectors.evaluation_passes import EvaluationNotDeterministic
from netmend.diagnose.detectors.modes import EvaluationInTrainingMode, TrainingInEvaluationMode
from netmend.diagnose.detectors.norm_statistics import NormStatisticsLag
from netmend.diagnose.examples.curves import crashed
from netmend.diagnose.examples.loops import patterns
from netmend.diagnose.measures.loop import calls
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Accusation, Cause, accuses, for_symptom
from netmend.localise.effects import UNSTABLE, stopped
from netmend.localise.lines.blocks import freezing, grad_switched_off, loop_around, no_grad_around
from netmend.program.settings import argument_origin
from netmend.program.text.queries import last_name
from netmend.vocabulary import Evidence, Fault, FunctionFact, Site, Symptom, Trace


@accuses("LOOP-MODE-TRAIN", TrainingInEvaluationMode)
def training_in_evaluation_mode(case: Case, symptom: Symptom) -> Accusation:
    """The model is trained in evaluation mode.

    Dropout regularises nothing then, and batch norm divides by statistics that nobody keeps up to date.
    Call model.train() at the start of every epoch.
    """
    evidence: list[Evidence] = []
    if symptom.detail.get("loaded") and not symptom.detail.get("restored"):
        text = "The weights were loaded and the mode never changed, so this may be deliberate."
        evidence.append(Evidence(text, -2 * STRONG))
    model = symptom.component
    place = loop_around(case.sources, symptom.site) or symptom.site
    return Accusation(
        PROVEN,
        evidence=evidence,
        component=model,
        site=place,
        reason="Dropout is off, and batch norm uses running statistics that training does not update.",
        remedy=f"Call `{model}.train()` before the loop over batches, in every epoch.",
        refutation="The network is trained with fixed statistics on purpose.",
        related=[symptom.detail.get("switched"), symptom.site],
        explains=(*UNSTABLE, "D506", "D507", "D605"),
    )


# Functions that leave dropout on to learn how sure a model is, or let batch norm see the data again.
_MEANT = re.compile(
    "monte|carlo|(^|_|\\b)mc(_|$)|dropout|uncertain|stochastic|bayes|ensemble|batch_?norm|bn_|calibrat",
    re.IGNORECASE,
)


@accuses("LOOP-MODE-EVAL", EvaluationInTrainingMode)
def evaluation_in_training_mode(case: Case, symptom: Symptom) -> Accusation | None:
    """The model is evaluated in training mode.

    Dropout and batch norm then work as in training: results are worse than the model, and depend on chance and on the batch.
    Call model.eval() before evaluating and model.train() afterwards.
    """
    evidence: list[Evidence] = []
    if symptom.site is not None and "update_bn" in case.sources.line(symptom.site):
        evidence.append(Evidence("The pass updates the batch norm statistics.", -2 * PROVEN))
    if symptom.detail.get("graded"):
        evidence.append(Evidence("The passes also recorded gradients, as training passes do.", -STRONG / 2))
    switched = bool(symptom.detail.get("switched"))
    if switched and symptom.site is not None and _MEANT.search(symptom.site.function):
        return None
    model = symptom.component
    block = no_grad_around(case.sources, symptom.site)
    return Accusation(
        PROVEN,
        evidence=evidence,
        component=model,
        site=block or symptom.site,
        reason="Dropout disturbs every prediction, and batch norm uses the statistics of the current batch.",
        remedy=f"Call `{model}.eval()` here instead of `{model}.train()`."
        if switched
        else f"Call `{model}.eval()` before this pass and `{model}.train()` after it.",
        refutation="Dropout is left on to estimate uncertainty.",
        related=[symptom.site, *_layers(case, symptom.detail.get("layers", ()))],
        explains=("D509", "D603", "D605"),
    )


def _layers(case: Case, names: tuple[str, ...]) -> list[Site | None]:
    facts = case.trace.facts.get("module", {})
    return [getattr(facts[name], "created", None) for name in names[:3] if name in facts]


@accuses("LYR-DROPOUT-MODE", EvaluationNotDeterministic)
def dropout_always_on(case: Case, symptom: Symptom) -> Accusation | None:
    """Dropout does not follow the model's mode: it stays on in evaluation.

    `F.dropout(x)` drops unless it is told otherwise, `F.scaled_dot_product_attention` whenever it is given a rate, and a `nn.Dropout` made inside
    forward() starts in train mode each time; `model.eval()` reaches none of them.
    Pass `training=self.training`, or create the layer once in `__init__`.
    """
    if _on_purpose(case, symptom):
        return None
    return Accusation(
        PROVEN,
        reason="Every evaluation and every use of the trained model runs with random parts switched off.",
        remedy="Pass `dropout_p=0.0` to the attention function unless `self.training` is true."
        if "attention" in symptom.component
        else "Pass `training=self.training` to the dropout function, or use an `nn.Dropout` created in `__init__`.",
        refutation="Dropout is kept on purpose, to measure uncertainty.",
        explains=("D205", "D506", "D509"),
    )


def _on_purpose(case: Case, symptom: Symptom) -> bool:
    """Whether the call says `training=True` itself."""
    if symptom.site is None:
        return False
    for call in case.sources.calls_named(symptom.site.file, "dropout", "dropout1d", "dropout2d", "dropout3d"):
        if call.lineno <= symptom.site.line <= (call.end_lineno or call.lineno):
            given = case.sources.argument(call, "training", 2)
            if last_name(call.func) and isinstance(given, ast.Constant) and given.value is True:
                return True
    return False


@accuses(
    "LYR-NORM-STATS",
    NormStatisticsLag,
    faulty=tuple(replace(run, code="API-USAGE") for run in NormStatisticsLag.FAULTY),
)
def norm_statistics_lag(case: Case, symptom: Symptom) -> Accusation:
    """The momentum of batch norm is so small that its running statistics never catch up.

    Training uses the statistics of the batch, evaluation the running ones; when these are still those of the start, evaluation sees another network.
    Leave `momentum` at 0.1. (In PyTorch it is the weight of the new value, not of the old one.)
    """
    origin = argument_origin(case.sources, symptom.site, "momentum", 2)
    return Accusation(
        STRONG + STRONG + FAIR,
        code="API-USAGE",
        site=symptom.site if origin is None else origin.site,
        reason="Evaluation normalises with statistics that do not match the data.",
        remedy="Use the default `momentum=0.1`; in PyTorch it is the weight of the new value.",
        refutation="Evaluation with batch statistics is just as bad.",
        related=(symptom.site,),
        explains=("D311", "D506", "D507", "D605", "D510", "D511"),
    )


_NO_GRAPH = "does not require grad"


def _no_graph(*loop: tuple[str, int]) -> Trace:
    text = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    return crashed(text, *patterns(*loop), line=21)


class GradientsSwitchedOff(Cause, code="LOOP-NO-GRAD"):
    """Gradients are switched off where training needs them, or the loss does not depend on the weights.

    backward() then has nothing to go through and raises. Evaluation that records gradients only wastes memory.
    Keep torch.no_grad() around evaluation alone, and compute the loss from the model's output by differentiable operations.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            if _NO_GRAPH in str(symptom.detail["exception"]):
                yield self._raised(case, symptom).fault(self.code, symptom)
        for symptom in case.of("D224"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, WEAK)],
                reason="Recording costs memory and time; results are not affected.",
                remedy="Put `with torch.no_grad():` around the evaluation.",
                refutation="The gradients are used, for example for saliency maps.",
            )

    def _raised(self, case: Case, symptom: Symptom) -> Accusation:
        trace, says = case.trace, partial(stopped, symptom, weight=PROVEN + 0.5, component="objective")
        passes = [call for _, call in calls(trace, "forward")]
        if passes and all(call.detail.endswith("no_grad") for call in passes):
            place = next((b for c in passes if (b := no_grad_around(case.sources, c.site))), None)
            place = place or grad_switched_off(case.sources, trace.run.script) or passes[0].site
            why = "Gradients are switched off during the training pass, so the loss has no graph."
            return says(why, "Run the training pass outside `no_grad`.", site=place)
        if trace.models and all(model.trainable == 0 and model.parameters for model in trace.models):
            why = "All parameters are frozen, so there is nothing to train."
            place = freezing(case.sources, trace.run.script)
            return says(why, "Freeze only the part that should stay fixed.", site=place, code="LOOP-FREEZE")
        cuts = [f for f in trace.all(FunctionFact) if f.kind == "graph cut" and f.site is not None]
        cut = cuts[-1] if cuts else None
        name = f"`{cut.function.strip('_')}`" if cut is not None else "An operation"
        why = f"{name} between the model and `backward()` detaches the value from the graph."
        remedy = "Compute the loss from the model's output with differentiable operations."
        place = cut.site if cut is not None else next((c.site for _, c in calls(trace, "loss")), None)
        return says(why, remedy, site=place, code="LOS-GRAPH-CUT")

    FAULTY = {
        "all under no_grad": lambda: _no_graph(("zero_grad forward:model=train,no_grad backward end", 1)),
        "cut": (
            "LOS-GRAPH-CUT",
            lambda: _no_graph(("zero_grad forward:model=train,grad loss backward end", 1)),
        ),
    }
