"""ARC-NET-WRONG."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.gradient_paths import UnusedModules
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.causes.graph_cut import _calls_around, _earlier_learn
from netmend.localise.effects import NOT_LEARNING, outcome
from netmend.localise.lines.blocks import no_grad_around
from netmend.localise.lines.values import cut_in_loss, unused_result
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, ModelFact, ModuleFact


@register
class PartNotConnected:
    """A part of the network does not reach its output: its result is not used, or it is never called.

    The network is smaller than it was meant to be, and the part never learns.
    Pass the result on in forward(), or take the part away.
    """

    code: ClassVar[str] = "ARC-NET-WRONG"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D214"):
            layers = list(symptom.detail["layers"])
            modules = [m for name in layers if (m := case.trace.get(ModuleFact, name)) is not None]
            evidence = [for_symptom(symptom, WEAK)]
            unused = [(m, name) for m in modules if (name := unused_result(case.sources, m.called))]
            if unused:
                evidence.append(Evidence(f"`{unused[-1][1]}` is computed and never used.", STRONG + WEAK))
            if _earlier_learn(case, symptom.detail["model"], layers):
                evidence.append(Evidence("Layers before them do get gradients, past them.", WEAK / 2))
            backward = next((loss.backward for loss in case.trace.losses if loss.backward is not None), None)
            if (
                case.has("D218")
                or cut_in_loss(case.sources, backward)
                or any(no_grad_around(case.sources, m.called) for m in modules)
                or any(no_grad_around(case.sources, site) for site in _calls_around(case, layers))
            ):
                evidence.append(Evidence("An operation cuts the graph after them.", -STRONG))
            if _returned(case, modules):
                evidence.append(Evidence("Their result is one of the model's outputs.", -FAIR - WEAK))
            if symptom.detail["loaded"]:
                evidence.append(
                    Evidence("A checkpoint was loaded: the part may be frozen on purpose.", -STRONG)
                )
            last = unused[-1][0] if unused else (modules[-1] if modules else None)
            yield fault(
                self.code,
                [*evidence, *outcome(case, bad=WEAK, good=-FAIR)],
                component=layers[-1],
                site=last.called if last is not None else symptom.site,
                summary=symptom.message,
                reason="The output of these layers does not reach the loss, so they neither help nor learn.",
                remedy=f"Use the result of `{layers[-1]}` in `forward`, or remove the layers.",
                refutation="This output is used elsewhere on purpose.",
                related=[m.created for m in modules[:3]],
                explains=(*NOT_LEARNING, "D120"),
            )
        for symptom in case.of("D226"):
            evidence = [for_symptom(symptom, WEAK), *outcome(case, bad=FAIR - WEAK / 2)]
            if (symptom.observed or 0) >= 0.2:
                evidence.append(Evidence("They are a large part of the model.", WEAK))
            module = case.trace.get(ModuleFact, symptom.component)
            owner = case.trace.get(ModuleFact, symptom.component.rpartition(".")[0])
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="`forward` skips these layers, so the network is smaller than it looks.",
                remedy=f"Call `{symptom.component}` in `forward`, or remove it.",
                refutation="The part is for later or for another task.",
                related=[module.created if module else None, owner.called if owner else None],
                explains=("D120",),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = UnusedModules.FAULTY


def _returned(case: Case, modules: list[ModuleFact]) -> bool:
    """Whether the model returns several tensors, one of them of the shape that the last of the layers makes."""
    model = case.trace.get(ModelFact, modules[-1].model) if modules else None
    if model is None or len(model.output_shapes) < 2:
        return False
    return any(shape in model.output_shapes for shape in modules[-1].output_shapes)
