"""Paths of the gradient that are cut, and parts of the network that it never reaches."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detectors.graphs import GraphCut as GraphCutDetector
from netmend.diagnose.detectors.graphs import NothingGetsGradients, UnusedModules
from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.wiring import wires
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Cause, for_symptom
from netmend.localise.effects import ANY, NOT_LEARNING, outcome
from netmend.localise.lines.blocks import grad_switched_off, no_grad_around
from netmend.localise.lines.values import cut_before_step, cut_in_loss, cuts_between, unused_result
from netmend.vocabulary import (
    Evidence,
    Fault,
    FunctionFact,
    ModelFact,
    ModuleFact,
    OptimizerFact,
    Site,
    Symptom,
)


class GraphCut(Cause, code="LOS-GRAPH-CUT"):
    """The gradient path from the loss to the weights is cut.

    detach(), .data, .item(), numpy, argmax, rounding or a no_grad block between a layer and the loss keep all gradients from it.
    Take the operation away, or replace it by one that can be differentiated.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D240"):
            yield self._whole(case, symptom)
        for symptom in case.of("D214"):
            place, how, evidence = self._cut(case, symptom)
            evidence = [for_symptom(symptom, FAIR + WEAK), *evidence, *outcome(case, bad=WEAK, good=-FAIR)]
            if symptom.detail["fresh"]:
                evidence.append(Evidence("They keep their random initial values.", WEAK))
            if symptom.detail["loaded"]:
                text = "A checkpoint was loaded: the part may be frozen on purpose."
                evidence.append(Evidence(text, -STRONG - FAIR))
            layers = list(symptom.detail["layers"])
            yield self.fault(
                symptom,
                evidence,
                component=layers[-1],
                site=place or symptom.site,
                reason=f"{how} blocks every gradient on the way to them, so they are never trained.",
                remedy=f"Remove {how[0].lower() + how[1:]} or replace it by an operation that can be differentiated.",
                refutation="These layers are meant to stay fixed; if so, freeze them with `requires_grad_(False)`.",
                related=[symptom.site, *_created(case, layers)],
                explains=(*NOT_LEARNING, "D218", "D226"),
            )

    def _whole(self, case: Case, symptom: Symptom) -> Fault:
        """Nothing of the model is reached: the cut lies between what it returns and backward()."""
        seen = [f for f in case.trace.all(FunctionFact) if f.kind == "graph cut" and not f.model]
        place = next((fact.site for fact in seen if fact.site is not None), None)
        called = next((m.called for m in case.trace.models if m.name == symptom.component), None)
        passes = [call for _, call in calls(case.trace, "forward")]
        if passes and all(call.detail.endswith("no_grad") for call in passes):
            place = grad_switched_off(case.sources, case.trace.run.script) or place
        place = (
            no_grad_around(case.sources, called)
            or place
            or cuts_between(case.sources, called, symptom.site)
            or cut_in_loss(case.sources, symptom.site)
        )
        told = "what happens between the model and the loss"
        if place is not None:
            told = f"`{case.sources.line(place)}`"
        return self.fault(
            symptom,
            [for_symptom(symptom, PROVEN)],
            site=place or symptom.site,
            reason="The loss has no graph back to the model, so no weight is ever trained.",
            remedy=f"Pass the model's output to the loss unchanged: in {told}, remove `.detach()`, `.data`, `.item()`, `.numpy()` "
            "or `torch.tensor(…)`, and `requires_grad` with it.",
            refutation="The weights are updated without gradients.",
            related=[symptom.site, called],
            explains=ANY,
        )

    def _cut(self, case: Case, symptom: Symptom) -> tuple[Site | None, str, list[Evidence]]:
        """Where the graph is cut, what does it, and how sure that is."""
        model = symptom.detail["model"]
        seen = next((s for s in case.of("D218") if s.detail["model"] == model), None)
        if seen is not None:
            return seen.site, f"`{seen.detail['operation']}`", [for_symptom(seen, STRONG + WEAK)]
        holder = _idle_holder(case, model)
        if holder is not None:
            told = f"`{holder.name}` still steps, but none of its parameters ever has a gradient."
            cut = cut_before_step(case.sources, holder.stepped)
            where = "on the way to its loss" if cut is None else f"in `{case.sources.line(cut)}`"
            return cut or holder.stepped, f"The operation {where}", [Evidence(told, STRONG)]
        layers = list(symptom.detail["layers"])
        last = case.trace.get(ModuleFact, layers[-1])
        called = [m.called for name in layers if (m := case.trace.get(ModuleFact, name)) is not None]
        for site in (*called, *_calls_around(case, layers)):
            block = no_grad_around(case.sources, site)
            if block is not None:
                told = f"Line {block.line} switches gradients off around them."
                return block, "The block without gradients", [Evidence(told, STRONG + WEAK)]
        following = _next_site(case, model, last)
        cut = cuts_between(case.sources, called[-1] if called else None, following)
        if cut is not None:
            text = case.sources.line(cut)
            return (
                cut,
                f"The operation in `{text}`",
                [Evidence(f"`{text}` detaches a value from the graph.", STRONG)],
            )
        backward = next((loss.backward for loss in case.trace.losses if loss.backward is not None), None)
        cut = cut_in_loss(case.sources, backward)
        if cut is not None:
            text = case.sources.line(cut)
            return (
                cut,
                f"The operation in `{text}`",
                [Evidence(f"`{text}` detaches a term from the graph.", STRONG)],
            )
        evidence = [Evidence("No operation that cuts the graph was found.", -FAIR)]
        if any(unused_result(case.sources, site) for site in called):
            evidence.append(Evidence("Their result is not used at all, so nothing cuts the graph.", -STRONG))
        elif _earlier_learn(case, model, layers):
            message = "Layers before them do get gradients, so the graph is not cut there."
            evidence.append(Evidence(message, -FAIR))
        return None, "An operation after these layers", evidence

    FAULTY = (*GraphCutDetector.FAULTY, *NothingGetsGradients.FAULTY)


def _idle_holder(case: Case, model: str) -> OptimizerFact | None:
    """The optimiser of this model alone, where none of what it holds had a gradient while others' parameters did."""
    own = [wire for wire in wires(case.trace) if wire.model == model and wire.fact.trainable]
    names = {wire.holder for wire in own}
    if len(names) != 1 or any(wire.measured for wire in own):
        return None
    (name,) = names
    shared = any(wire.holder == name and wire.model != model for wire in wires(case.trace))
    return None if shared else next((o for o in case.trace.optimizers if o.name == name), None)


def _calls_around(case: Case, layers: list[str]) -> list[Site | None]:
    """Where the modules that hold the layers are called: a block may stand around one of those."""
    parents = dict.fromkeys(
        ".".join(parts[:depth])
        for name in layers
        for parts in [name.split(".")]
        for depth in range(len(parts) - 1, 1, -1)
    )
    return [m.called for name in parents if (m := case.trace.get(ModuleFact, name)) is not None]


def _created(case: Case, layers: list[str]) -> list[Site | None]:
    found = (case.trace.get(ModuleFact, name) for name in layers[:3])
    return [module.created for module in found if module is not None]


def _next_site(case: Case, model: str, last: ModuleFact | None) -> Site | None:
    """Where the first layer behind them is called, in this model or in the next."""
    if last is None or last.order is None:
        return None
    after = [
        module
        for module in case.trace.all(ModuleFact)
        if module.model == model and module.order is not None and module.order > last.order and module.leaf
    ]
    found = min(after, key=lambda module: module.order or 0, default=None)
    if found is not None and found.called != last.called:
        return found.called
    return next((loss.backward for loss in case.trace.losses if loss.backward is not None), None)


def _earlier_learn(case: Case, model: str, layers: list[str]) -> bool:
    orders = [
        m.order for n in layers if (m := case.trace.get(ModuleFact, n)) is not None and m.order is not None
    ]
    return any(
        wire.flows and wire.module is not None and (wire.module.order or 1 << 30) < min(orders, default=0)
        for wire in wires(case.trace)
        if wire.model == model
    )


class PartNotConnected(Cause, code="ARC-NET-WRONG"):
    """A part of the network does not reach its output: its result is not used, or it is never called.

    The network is smaller than it was meant to be, and the part never learns.
    Pass the result on in forward(), or take the part away.
    """

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
                text = "A checkpoint was loaded: the part may be frozen on purpose."
                evidence.append(Evidence(text, -STRONG))
            last = unused[-1][0] if unused else (modules[-1] if modules else None)
            yield self.fault(
                symptom,
                [*evidence, *outcome(case, bad=WEAK, good=-FAIR)],
                component=layers[-1],
                site=last.called if last is not None else symptom.site,
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
            yield self.fault(
                symptom,
                evidence,
                reason="`forward` skips these layers, so the network is smaller than it looks.",
                remedy=f"Call `{symptom.component}` in `forward`, or remove it.",
                refutation="The part is for later or for another task.",
                related=[module.created if module else None, owner.called if owner else None],
                explains=("D120",),
            )

    FAULTY = UnusedModules.FAULTY


def _returned(case: Case, modules: list[ModuleFact]) -> bool:
    """Whether the model returns several tensors, one of them of the shape that the last of the layers makes."""
    model = case.trace.get(ModelFact, modules[-1].model) if modules else None
    if model is None or len(model.output_shapes) < 2:
        return False
    return any(shape in model.output_shapes for shape in modules[-1].output_shapes)
