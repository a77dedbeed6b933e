"""D206 TrainingInEvaluationMode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import calls, first_step, is_training, stepping
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.modes import kinds, mode_layers
from netmend.diagnose.measures.wiring import loaded, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import ModuleFact, Pattern, Symptom, Trace

_TRAIN = "zero_grad forward:model=train,grad loss backward step:optimizer"
_WRONG = "zero_grad forward:model=eval,grad loss backward step:optimizer"
_BATCH_NORM = network(Layer("fc"), Layer("norm", "BatchNorm1d"))


@register
class TrainingInEvaluationMode:
    """The model is trained while its dropout or batch-norm layers work as in evaluation.

    Dropout then regularises nothing, and batch norm divides by running statistics that are never brought up to date.
    Usual cause: model.eval() before a validation pass, and no model.train() after it.
    """

    code: ClassVar[str] = "D206"

    least_steps: int = threshold(4, "convention", "the loop is known exactly; fewer steps may be a check")
    share_limit: float = threshold(
        0.3,
        "convention",
        "from the first validation on: at least a third of the steps of any run with several",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        usual = stepping(trace)
        total = sum(pattern.steps for pattern in usual)
        learning = {wire.model for wire in wires(trace) if wire.held and wire.fact.trainable}
        for model in sorted(learning):
            wrong = [pattern for pattern in usual if _trains(pattern, model) == {"eval"}]
            affected = sum(pattern.steps for pattern in wrong)
            if affected < self.least_steps or affected < self.share_limit * total:
                continue
            layers = mode_layers(trace, model)
            if not layers or _mixed(trace, model):
                continue
            forward = next(c for c in wrong[0].calls if is_training(c) and c.component == model)
            switched = [(p, c) for p, c in calls(trace, "eval") if c.component in (model, "")]
            yield Symptom(
                self.code,
                f"`{model}` was in evaluation mode on {affected} of {total} training steps: its "
                f"{kinds(trace, layers)} layers ({len(layers)}) did not behave as in training.",
                component=model,
                first_step=first_step(wrong),
                observed=affected / total,
                limit=self.share_limit,
                site=forward.site,
                detail={
                    "layers": layers,
                    "restored": affected < total,
                    "loaded": loaded(trace, model),
                    "switched": next((call.site for _, call in switched), None),
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("trained in training mode", lambda: trained(optimizer(), *_BATCH_NORM, loop=[(_TRAIN, 40)])),
        Run(
            "nothing in the model depends on the mode",
            lambda: trained(optimizer(), *network(Layer("fc")), loop=[(_WRONG, 40)]),
        ),
        Run(
            "adversarial examples are made in evaluation mode",
            lambda: trained(
                optimizer(),
                *_BATCH_NORM,
                loop=[("forward:model=eval,grad backward=grad " + _TRAIN, 40)],
            ),
        ),
        Run(
            "a frozen network that only judges",
            lambda: trained(
                optimizer(),
                *network(
                    Layer("fc", optimizer=None, trainable=False), Layer("norm", "BatchNorm1d", weight=False)
                ),
                loop=[(_WRONG, 40)],
            ),
        ),
        Run("a few steps", lambda: trained(optimizer(), *_BATCH_NORM, loop=[(_TRAIN, 40), (_WRONG, 3)])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "never switched back",
            lambda: trained(
                optimizer(), *_BATCH_NORM, loop=[(_TRAIN, 10), ("eval " + _WRONG, 1), (_WRONG, 30)]
            ),
        ),
    )


def _trains(pattern: Pattern, model: str) -> set[str]:
    """The modes in which the model's training passes ran, up to the backward pass."""
    if not any(call.what == "backward" for call in pattern.calls):
        return set()
    return {
        call.detail.partition(",")[0]
        for call in pattern.calls
        if call.what == "forward" and call.component == model and call.detail.endswith(", grad")
    }


def _mixed(trace: Trace, model: str) -> bool:
    """The model was in evaluation mode from the start, but some layers were put into training mode: somebody chose."""
    modes = {module.name: module.training for module in trace.all(ModuleFact) if module.model == model}
    return modes.get(model) is False and any(modes.values())
