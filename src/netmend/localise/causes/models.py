"""Models with layers outside them, made anew, frozen, or without the weights that were loaded for them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from netmend.diagnose.detectors.frozen import FrozenLate, FrozenParameters
from netmend.diagnose.detectors.models import CheckpointNotLoaded as CheckpointNotLoadedDetector
from netmend.diagnose.detectors.models import ModelRecreated as ModelRecreatedDetector
from netmend.diagnose.detectors.models import UnregisteredLayers
from netmend.diagnose.detectors.optimizer_parameters import IdleOptimizer
from netmend.diagnose.examples.curves import crashed
from netmend.diagnose.measures.wiring import forgotten_models
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Cause, for_symptom
from netmend.localise.effects import ANY, NOT_LEARNING, outcome
from netmend.localise.lines.blocks import (
    attribute_line,
    called_in_loop,
    experiment_loop,
    freezing,
    plain_containers,
)
from netmend.program.text.queries import inside
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Site


class LayersNotRegistered(Cause, code="ARC-INIT-MODEL"):
    """Layers are kept where the model does not see them, such as a plain Python list.

    parameters(), to(), state_dict() and train() pass such layers over, so they are never trained.
    Use nn.ModuleList or nn.ModuleDict, or assign each layer to an attribute of the module.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D216"):
            if symptom.detail["in_forward"]:
                continue
            detail = symptom.detail
            single = "attribute" in detail
            evidence = [for_symptom(symptom, PROVEN)]
            if symptom.detail["loaded"]:
                evidence.append(Evidence("A checkpoint was loaded: they may be hidden on purpose.", -PROVEN))
            yield self.fault(
                symptom,
                evidence,
                component=str(symptom.detail["model"]),
                site=symptom.site or attribute_line(case.sources, case.trace.run.script, detail),
                reason="A tensor that is no registered parameter is invisible to `parameters()`, so it is never trained."
                if single
                else "Layers in a plain container are invisible to `parameters()`, so they are never trained.",
                remedy="Make it an `nn.Parameter`, or put several into an `nn.ParameterList`."
                if single
                else "Wrap the container in `nn.ModuleList` or `nn.ModuleDict`.",
                refutation="The network is fixed and kept out of `parameters()` on purpose.",
                related=[symptom.detail.get("called")],
                explains=(*NOT_LEARNING, "D213", "D226"),
            )
        for symptom in case.of("D701"):
            if "optimizer got an empty parameter list" not in str(symptom.detail["exception"]):
                continue
            place = next(plain_containers(case.sources, case.trace.run.script), None)
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN)],
                component="optimizer",
                site=place or symptom.site,
                reason="`parameters()` only finds layers that are module attributes or in an `nn.ModuleList`.",
                remedy="Wrap the container in `nn.ModuleList`."
                if place is not None
                else "Assign the layers to attributes of the module in `__init__`.",
                refutation="The model is meant to have no parameters.",
                related=[symptom.site],
                explains=ANY,
            )

    FAULTY = (
        *UnregisteredLayers.FAULTY[:2],
        Run(
            "the optimiser finds nothing",
            lambda: crashed("ValueError: optimizer got an empty parameter list", line=8),
        ),
    )


class ModelRecreated(Cause, code="ARC-INIT-MULTI"):
    """The model, or one of its layers, is created again during training.

    Everything learned until then is lost each time.
    Create the model once, before the loop, and layers in __init__ rather than in forward.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D217"):
            stale = symptom.detail["stale"]
            evidence = [for_symptom(symptom, PROVEN + 2.0 if stale else STRONG + FAIR)]
            if not stale:
                evidence += _purpose(case, symptom.site)
            yield self.fault(
                symptom,
                evidence,
                site=called_in_loop(case.sources, symptom.site) or symptom.site,
                reason="Every new model starts from random weights: what the previous one learned is lost.",
                remedy="Create the model once, before the loop over epochs, and the optimiser after it.",
                refutation="The models are separate on purpose (folds, seeds, a search).",
                related=[symptom.site, *(optimizer.created for optimizer in case.trace.optimizers[:1])],
                explains=(*NOT_LEARNING, "D213", "D502", "D503"),
            )
        for symptom in case.of("D216"):
            if symptom.detail["in_forward"]:
                yield self.fault(
                    symptom,
                    [for_symptom(symptom, PROVEN + 0.5)],
                    reason="A layer created inside `forward` has new random weights on every call and is never trained.",
                    remedy="Create the layer in `__init__` as an attribute and call it in `forward`.",
                    refutation="The layer is stored and created only once.",
                    related=[symptom.detail.get("called")],
                    explains=(*NOT_LEARNING, "D603"),
                )

    FAULTY = (*ModelRecreatedDetector.FAULTY, *UnregisteredLayers.FAULTY[2:])


def _rates_of_one_line(case: Case) -> set[object]:
    """Rates of the optimisers that one line made, where there are such: one before the loop may have lost its rate to a scheduler."""
    made = Counter(optimizer.created for optimizer in case.trace.optimizers)
    often = {site for site, times in made.items() if times > 1}
    return {
        group.settings.get("lr")
        for optimizer in case.trace.optimizers
        if not often or optimizer.created in often
        for group in optimizer.groups[:1]
    }


def _purpose(case: Case, site: Site | None) -> Iterator[Evidence]:
    """Whether the loop around the line that creates the model goes over settings to compare, or over epochs."""
    if len(_rates_of_one_line(case)) > 1:
        yield Evidence("The models have different learning rates, so this is a comparison.", -STRONG - FAIR)
    if len({model.parameters for model in case.trace.models}) > 1:
        yield Evidence("The models differ in size, so this is a comparison.", -STRONG)
    place = called_in_loop(case.sources, site) or site
    loop = None if place is None else case.sources.loop_around(place)
    if not isinstance(loop, ast.For):
        return
    if not (isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range"):
        yield Evidence("The loop runs over values, not over epochs.", -STRONG)
    if experiment_loop(loop):
        text = "The loop variable sets seeds or selects data: the loop repeats an experiment."
        yield Evidence(text, -STRONG - FAIR)
    nested = [node for node in inside(loop, ast.For, ast.While) if node is not loop]
    if len(nested) > 1:
        yield Evidence("It contains several loops: the outer one repeats the whole training.", -FAIR)
    if nested and len(nested) == 1:
        yield Evidence("It contains only the loop over batches, so it counts epochs.", WEAK)


class LayersFrozen(Cause, code="LOOP-FREEZE"):
    """What is frozen is not what was meant: layers that should learn are, or layers that should rest are not.

    Freezing saves time where layers were trained before. Random layers that stay random throw information away, and an optimiser all of whose
    parameters are frozen does nothing. Freezing inside a model's own train() happens only when train() is called.
    Freeze the right part, once, before the optimiser is made; load the weights that are to be frozen.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        yield from self._all_that_is_trained(case)
        yield from self._too_late(case)
        for symptom in case.of("D220"):
            layers = list(symptom.detail["layers"])
            evidence = [for_symptom(symptom, WEAK), *outcome(case, bad=FAIR + WEAK, good=-STRONG)]
            if float(symptom.detail["share"]) >= 0.5:
                evidence.append(Evidence("They are more than half of the model.", WEAK))
            if symptom.detail["resting"]:
                told = "They are in evaluation mode while the rest is trained, so this is deliberate."
                evidence.append(Evidence(told, -FAIR - WEAK))
            if symptom.detail["adapted"]:
                text = "They have trainable parameters next to them (adapters)."
                evidence.append(Evidence(text, -FAIR - WEAK))
            words = tuple(part for name in layers for part in name.split(".")[1:2])
            line = freezing(case.sources, case.trace.run.script, words)
            yield self.fault(
                symptom,
                evidence,
                component=layers[0],
                site=line or symptom.site,
                reason="Frozen random layers scramble the input, and training cannot improve them.",
                remedy=f"Do not freeze {', '.join(layers[:2])}, or load trained weights before freezing.",
                refutation="The features are random on purpose.",
                related=[symptom.site],
                explains=(*NOT_LEARNING, "D120"),
            )

    def _all_that_is_trained(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D228"):
            frozen = list(symptom.detail["frozen"])
            if len(frozen) != symptom.detail["count"] or forgotten_models(case.trace):
                continue  # the optimiser holds the wrong network: see optimizer_parameters
            words = tuple(part for name in frozen for part in name.split(".")[1:2])
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + FAIR)],
                component=frozen[0].rpartition(".")[0],
                site=freezing(case.sources, case.trace.run.script, words) or symptom.site,
                reason="Nothing is left for the optimiser to train; only running averages still change.",
                remedy=f"Let the parameters of `{symptom.component}` require gradients: freeze first, then create or unfreeze the part "
                "to train.",
                refutation="The optimiser is for a later part of the program.",
                related=[symptom.site],
                explains=(*NOT_LEARNING, "D213", "D214", "D220", "D502"),
            )

    def _too_late(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D230"):
            name = symptom.detail["class"]
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN)],
                reason=f"A new model is already in training mode; `{name}.train()` is never called, so the part it freezes was trained.",
                remedy=f"Freeze in the `__init__` of {name} too, or call `train()` before the first step.",
                refutation="These parts are trained first and frozen later on purpose.",
            )

    FAULTY = (*FrozenParameters.FAULTY, *IdleOptimizer.FAULTY[:1], *FrozenLate.FAULTY)


class CheckpointNotLoaded(Cause, code="TRN-CKPT"):
    """A checkpoint is missing, or hardly anything of it was loaded.

    With strict=False names that do not fit are skipped in silence, and the model starts at random values after all.
    Make the names fit, and load with strict=True.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D222"):
            if symptom.detail["own"]:
                yield self.fault(
                    symptom,
                    [for_symptom(symptom, STRONG + FAIR)],
                    reason="`state_dict()` returns references, so further training changed the saved state too.",
                    remedy="Copy the state when you save it: `copy.deepcopy(model.state_dict())`.",
                    refutation="The state was saved just before loading, so nothing has changed in between.",
                )
                continue
            nothing = not symptom.detail["matched"]
            given, wanted = symptom.detail["given"][:1], symptom.detail["wanted"][:1]
            names = f" (the file has `{given[0]}`, the model needs `{wanted[0]}`)" if given and wanted else ""
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + 0.5 if nothing else STRONG + FAIR)],
                reason="Entries whose names do not match are skipped, so the model keeps its random weights.",
                remedy=f"Make the checkpoint's names match the model{names}, and load it with `strict=True`.",
                refutation="The model is meant to start from random weights.",
                explains=(*NOT_LEARNING, "D220", "D213", "D214"),
            )
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            keys = "loading state_dict" in text
            if not keys and not (
                text.startswith("FileNotFoundError") and _is_for_a_model(case, symptom.site)
            ):
                continue  # a file of data that is not there: the traceback says all there is to say
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN)],
                component="checkpoint",
                reason="The checkpoint does not fit this model."
                if keys
                else "The file to load does not exist.",
                remedy="Load it into the model it was saved from, or rename its entries."
                if keys
                else "Correct the path, or save the checkpoint before it is loaded.",
                refutation="The file exists where the program normally runs.",
                explains=ANY,
            )

    FAULTY = CheckpointNotLoadedDetector.FAULTY


def _is_for_a_model(case: Case, site: Site | None) -> bool:
    """Whether what the line loads is given to `load_state_dict`, there or under a name."""
    if site is None:
        return False
    line = case.sources.line(site)
    named = re.match(r"(\w+)\s*=.*\bload\(", line)
    wanted = rf"load_state_dict\(\s*{named[1]}\b" if named else r"load_state_dict\("
    return re.search(wanted, case.sources.text(site.file) if named else line) is not None
