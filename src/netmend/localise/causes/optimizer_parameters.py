"""OPT-PARAMS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detectors.frozen import StepSkipsParameters
from netmend.diagnose.detectors.optimizer_parameters import IdleOptimizer, ParametersWithoutOptimizer
from netmend.diagnose.measures.wiring import forgotten_models
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING, UNSTABLE, outcome
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Symptom


@register
class OptimizerParameters:
    """The optimiser does not hold, or its step does not reach, the parameters that should be trained.

    Parameters that no optimiser holds are never trained, although gradients are computed for them; the same holds for
    those that its step passes over.
    Give the optimiser the parameters of the whole model, and create it after the model is final.
    """

    code: ClassVar[str] = "OPT-PARAMS"

    def accuse(self, case: Case) -> Iterator[Fault]:
        yield from self._idle(case)
        yield from self._passed_over(case)
        for symptom in case.of("D213"):
            detail = symptom.detail
            optimizer = next((o for o in case.trace.optimizers if o.created == symptom.site), None)
            name = optimizer.name if optimizer is not None else "optimizer"
            replaced = bool(detail["unknown"]) and bool(detail["others_held"])
            layers = ", ".join(detail["layers"][:2])
            yield fault(
                self.code,
                [for_symptom(symptom, FAIR), *self._evidence(symptom, replaced), *outcome(case, good=-WEAK)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Their gradients are computed and never used, so these layers are not trained.",
                remedy=f"Create `{name}` once the model is complete, so that it includes {layers}."
                if replaced
                else f"Pass the parameters of {layers} to `{name}` too, for example with "
                f"`{detail['model']}.parameters()`.",
                refutation="These layers are meant to stay fixed; if so, freeze them with `requires_grad_(False)`.",
                related=[detail.get("created")],
                explains=(*NOT_LEARNING, *UNSTABLE, "D412"),
            )

    def _idle(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D228"):
            frozen = len(symptom.detail["frozen"]) == symptom.detail["count"]
            others = forgotten_models(case.trace) if frozen else []
            if frozen and not others:
                continue  # layers_frozen tells where
            wrong = [Evidence(f"{name} gets gradients, but is in no optimiser.", WEAK) for name in others[:1]]
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN), *wrong],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="The model computes with other tensors, so the optimiser's steps do not change it.",
                remedy=f"Pass the parameters of {others[0]} to `{symptom.component}`, with `{others[0]}.parameters()`."
                if others
                else f"Create `{symptom.component}` last, with the parameters of the model as it is trained: after wrapping, "
                "sharding, moving or replacing parts of it.",
                refutation="The part of the program that uses the optimiser has not started yet.",
                explains=(*NOT_LEARNING, "D213", "D214", "D215", "D216"),
            )

    def _passed_over(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D229"):
            detail = symptom.detail
            since = "" if detail["always"] else f" from step {(symptom.first_step or 0) + 1} on"
            yield fault(
                "LOOP-STEP",
                [for_symptom(symptom, PROVEN + WEAK)],
                component=symptom.component,
                site=detail["created"] or symptom.site,
                summary=symptom.message,
                reason=f"Layers such as {detail['layers'][0]} do not change{since} while the rest is trained.",
                remedy=f"Compare `{detail['optimizer']}` with `torch.optim.Adam` or `SGD` on the same parameters: {detail['kind']} loses "
                "their updates. Look for a list of parameters made once, and for in-place writes to copies (tensors that are not "
                "contiguous).",
                refutation="The optimiser skips these parameters on purpose.",
                related=[symptom.site],
                explains=(*NOT_LEARNING, "D108", "D215"),
            )

    def _evidence(self, symptom: Symptom, replaced: bool) -> Iterator[Evidence]:
        detail = symptom.detail
        if replaced:
            yield Evidence("The optimiser has parameters that belong to no layer in use.", PROVEN)
        elif detail["fresh"]:
            yield Evidence("They have their random initial values.", STRONG + WEAK)
        else:
            yield Evidence("Their values do not look freshly initialised.", -WEAK)
        if detail["loaded"]:
            yield Evidence("A checkpoint was loaded: the part may be fixed on purpose.", -PROVEN)
        if not detail["any_held"] and detail["unknown"]:
            if detail["unknown"] == detail["count"]:
                yield Evidence(
                    "The optimiser holds exactly as many tensors of a model that is not in use.", FAIR
                )
            else:
                yield Evidence(
                    "The optimiser trains other tensors; the model may be fixed on purpose.", -STRONG
                )
        if detail["copied"]:
            yield Evidence("They start as a copy of another network.", -STRONG)

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *ParametersWithoutOptimizer.FAULTY,
        *IdleOptimizer.FAULTY[1:],  # the first is frozen against intent
        *(replace(run, code="LOOP-STEP") for run in StepSkipsParameters.FAULTY),
    )
