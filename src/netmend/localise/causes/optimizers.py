"""Optimisers that do not suit the problem or do not hold all parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detectors.frozen import StepSkipsParameters
from netmend.diagnose.detectors.optimizer_parameters import IdleOptimizer, ParametersWithoutOptimizer
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.batches import batch_size, training_samples
from netmend.diagnose.measures.ending import cut_short
from netmend.diagnose.measures.motion import Motion, motions
from netmend.diagnose.measures.rates import plain, usual_range
from netmend.diagnose.measures.wiring import forgotten_models
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.effects import NOT_LEARNING, UNSTABLE, outcome
from netmend.localise.lines.rates import highest_rate
from netmend.localise.outcome import harm, level, relief, rivals
from netmend.unit import calibrated, convention
from netmend.vocabulary import Evidence, Fault, OptimizerFact, Symptom, Trace

# Other reasons why the steps of plain SGD are small, or why a loss stays high at any step.
_RIVALS = {
    "D106": "The gradients vanish on their way to the first layers.",
    "D109": "The output does not depend on the input.",
    "D111": "The weights start symmetric.",
    "D112": "The initial weights have the wrong scale.",
    "D113": "The biases swamp the weights.",
    "D126": "Saturating activations are stacked.",
    "D128": "A hidden sigmoid makes samples look alike.",
    "D104": "Units are dead.",
    "D201": "Gradients are not cleared.",
    "D203": "Steps are taken before the gradients exist.",
    "D210": "A schedule lowers the rate to next to nothing.",
    "D211": "Clipping removes most of the gradient.",
    "D217": "The model is created again and again.",
    "D220": "Parts of the model are frozen.",
    "D302": "The inputs are badly scaled.",
    "D305": "The targets are badly scaled.",
    "D308": "The data is sorted.",
    "D311": "The labels have nothing to do with the inputs.",
    "D313": "The batches are very small.",
    "D314": "There are hardly any updates.",
    "D401": "The output is normalised twice, which weakens the gradient.",
    "D404": "The output cannot take the targets' values.",
    "D405": "The loss does not fit the task.",
    "D512": "There were few updates.",
    "D604": "The network is linear.",
}
_EXPLAINS = ("D102", "D501", "D504", "D505", "D508", "D511")


class OptimizerUnsuited(Cause, code="OPT-SELECT"):
    """The optimiser does not suit the problem: at a rate that is usual for it, its steps are too small or die out.

    Plain SGD follows the gradient as it is, which is slow where gradients are small; Adagrad divides by all gradients so far, so that its steps only ever
    shrink; L-BFGS compares gradients of different batches. Use Adam with a rate of 1e-3, or SGD with momentum 0.9.
    """

    small_step = convention(3e-3, "relative update that is small for the first steps of any training")
    plain_step = calibrated(
        0.03, "highest relative update of plain SGD; healthy programs with it come above 0.06"
    )
    least_level = convention(0.35, "below that of the constant prediction much was learned")
    nothing = convention(0.9, "above that of the constant prediction hardly anything was")
    least_steps = convention(100, "fewer updates are few for any optimiser")
    shrunk = convention(3.0, "times smaller than in the first steps: the steps die out")

    def accuse(self, case: Case) -> Iterator[Fault]:
        if _compares_optimizers(case.trace):
            return
        for motion in motions(case.trace):
            optimizer = case.trace.get(OptimizerFact, motion.optimizer)
            rate = None if optimizer is None else highest_rate(case.trace, optimizer)
            if optimizer is None or rate is None:
                continue
            if plain(optimizer):
                yield from self._plain(case, motion, optimizer, rate)
            elif optimizer.kind == "Adagrad":
                yield from self._dying(case, motion, optimizer, rate)
        yield from self._second_order(case)

    def _plain(self, case: Case, motion: Motion, optimizer: OptimizerFact, rate: float) -> Iterator[Fault]:
        """Plain SGD at a usual rate that stays far behind."""
        told = [
            for_symptom(s, STRONG)
            for s in case.of("D125")
            if s.component == motion.optimizer and s.detail.get("direction") == "plain"
        ]
        slow = [for_symptom(s, FAIR) for s in case.of("D102")[:1]]
        if told:
            yield self._fault(optimizer, rate, [*told, *slow, *harm(case), *relief(case, 2 * STRONG)])
            return
        usual, reached = usual_range(optimizer), level(case)
        if usual is None or reached is None or not usual[0] <= rate <= usual[1]:
            return
        if not 0 < (motion.highest or 1.0) < self.plain_step or motion.steps < self.least_steps:
            return
        if cut_short(case.trace):
            return
        behind = [for_symptom(s, FAIR) for s in case.of("D501", "D505", "D508")[:1]]
        if not behind and reached >= self.nothing:
            behind = [
                Evidence(f"The loss ended at {reached:.2f} of that of the best constant prediction.", WEAK)
            ]
        if not behind or reached < self.least_level:
            return
        text = (
            f"{optimizer.kind} without momentum at `lr={rate:g}`, a usual rate, changed the weights by "
            f"{motion.highest:.2g} of their size at most."
        )
        reasons = [Evidence(text, FAIR + WEAK), *slow, *behind, *rivals(case, _RIVALS)]
        yield self._fault(optimizer, rate, reasons)

    def _dying(self, case: Case, motion: Motion, optimizer: OptimizerFact, rate: float) -> Iterator[Fault]:
        """Adagrad whose steps have shrunk away; where they were tiny from the first on it is the rate (D125)."""
        usual = motion.usual if motion.usual is not None else 1.0
        hurt, low = harm(case), any(s.component == motion.optimizer for s in case.of("D125"))
        died = usual <= self.small_step and usual * self.shrunk <= (motion.early or 0.0)
        if low or not died or not (hurt or case.has("D505")):
            return
        text = f"The steps of Adagrad shrank from {motion.early:.2g} to {usual:.2g} of the weights' size."
        evidence = [Evidence(text, STRONG + FAIR), *(for_symptom(s, WEAK) for s in case.of("D505")[:1])]
        yield self._fault(optimizer, rate, [*evidence, *hurt, *relief(case, 2 * STRONG)])

    def _second_order(self, case: Case) -> Iterator[Fault]:
        """L-BFGS compares gradients of successive steps; on changing batches it compares different functions."""
        samples, size = training_samples(case.trace), batch_size(case.trace)
        broken = case.of("D502", "D110", "D103")[:1]
        for optimizer in case.trace.optimizers:
            if optimizer.kind != "LBFGS" or not broken or (samples and size and size > 0.9 * samples):
                continue
            batches = f"batches of {size}" if size else "changing batches"
            yield fault(
                self.code,
                [Evidence(f"L-BFGS is run on {batches}.", STRONG), *(for_symptom(s, STRONG) for s in broken)],
                component=optimizer.name,
                site=optimizer.created or optimizer.stepped,
                summary=f"L-BFGS is run on {batches}, and the values blew up. {broken[0].message}",
                reason="It estimates the curvature from successive gradients, but here each comes from different samples.",
                remedy="Use Adam or SGD for batches, or run L-BFGS on all samples at once with `line_search_fn='strong_wolfe'`.",
                refutation="L-BFGS with a line search on all data blows up as well.",
                explains=("D502", "D110", "D103", "D105", "D107", "D101", "D115", "D509"),
            )

    def _fault(self, optimizer: OptimizerFact, rate: float, evidence: list[Evidence]) -> Fault:
        where = "" if optimizer.created is None else f" in {optimizer.created.short}"
        momentum = ", or `momentum=0.9`" if optimizer.kind == "SGD" else ""
        return fault(
            self.code,
            evidence,
            component=optimizer.name,
            site=optimizer.created or optimizer.stepped,
            summary=f"{optimizer.kind} with `lr={rate:g}` hardly moves the weights. {evidence[0].message}",
            reason="At this rate its steps are as small as the gradients, or only ever shrink.",
            remedy=f"Use `torch.optim.Adam(..., lr=1e-3)`{where}{momentum}.",
            refutation="Adam with the default rate is no faster.",
            explains=_EXPLAINS,
        )

    FAULTY = {
        "plain SGD with a rate that needs momentum": lambda: net_run(
            losses=[1.1 - 1e-4 * s for s in range(300)], optimizer="SGD", settings={"lr": 0.01}, ratio=1e-4
        ),
        "plain SGD at a good rate, still far behind": lambda: net_run(
            losses=[1.1 - 1e-3 * s for s in range(300)], optimizer="SGD", settings={"lr": 0.1}, ratio=5e-3
        ),
        "the steps of Adagrad die out": lambda: net_run(
            losses=[1.1, 1.0, 0.9, *([0.8] * 297)],
            optimizer="Adagrad",
            settings={"lr": 0.001},
            ratio=lambda step: 0.006 if step < 12 else 4e-4,
        ),
    }


def _compares_optimizers(trace: Trace) -> bool:
    """Whether equal networks are each trained by an optimiser of another kind or momentum: then the slow one is there on purpose."""
    ways = {
        (one.kind, *(bool(group.settings.get("momentum")) for group in one.groups))
        for one in trace.optimizers
    }
    alike = Counter((model.kind, model.parameters) for model in trace.models)
    return len(ways) > 2 and max(alike.values(), default=0) >= len(trace.optimizers)


class OptimizerParameters(Cause, code="OPT-PARAMS"):
    """The optimiser does not hold, or its step does not reach, the parameters that should be trained.

    Parameters that no optimiser holds are never trained, although gradients are computed for them; the same holds for
    those that its step passes over.
    Give the optimiser the parameters of the whole model, and create it after the model is final.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        yield from self._idle(case)
        yield from self._passed_over(case)
        for symptom in case.of("D213"):
            detail = symptom.detail
            optimizer = next((o for o in case.trace.optimizers if o.created == symptom.site), None)
            name = optimizer.name if optimizer is not None else "optimizer"
            replaced = bool(detail["unknown"]) and bool(detail["others_held"])
            layers = ", ".join(detail["layers"][:2])
            yield self.fault(
                symptom,
                [for_symptom(symptom, FAIR), *self._evidence(symptom, replaced), *outcome(case, good=-WEAK)],
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
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN), *wrong],
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
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + WEAK)],
                code="LOOP-STEP",
                site=detail["created"] or symptom.site,
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
                text = "The optimiser holds exactly as many tensors of a model that is not in use."
                yield Evidence(text, FAIR)
            else:
                text = "The optimiser trains other tensors; the model may be fixed on purpose."
                yield Evidence(text, -STRONG)
        if detail["copied"]:
            yield Evidence("They start as a copy of another network.", -STRONG)

    FAULTY = (
        *ParametersWithoutOptimizer.FAULTY,
        *IdleOptimizer.FAULTY[1:],  # the first is frozen against intent
        *(replace(run, code="LOOP-STEP") for run in StepSkipsParameters.FAULTY),
    )
