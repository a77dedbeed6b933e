"""Momentum, epsilon, schedule and clipping of an optimiser."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.diagnose.detectors.gradients import NonfiniteOrigin
from netmend.diagnose.detectors.optimizer_settings import (
    _SCHEDULER,
    ClippingMisplaced,
    RateDies,
    RateNeverRises,
    _clipped,
)
from netmend.diagnose.examples.loops import trained
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.wiring import stepped_optimizers
from netmend.library.layers import RECURRENT_CELLS
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.causes.loop_calls import SCALED
from netmend.localise.effects import NOT_LEARNING, UNSTABLE, outcome
from netmend.localise.lines.rates import returned_factor, set_by_hand, setting
from netmend.localise.outcome import harm, relief
from netmend.program.settings import argument_origin
from netmend.unit import Run, calibrated, convention
from netmend.vocabulary import Evidence, Fault, ModuleFact, OptimizerFact, SchedulerFact, Symptom, Trace

_UNSAFE = {
    "log": "Use the stable form (`F.log_softmax`, `F.logsigmoid`, a `…_with_logits` loss), or `torch.clamp` the argument first.",
    "div": "Add a small number to the divisor, or skip the samples for which it is zero.",
    "sqrt": "Add a small number under the root: its slope at zero is infinite.",
    "exp": "Subtract the largest value first, or use `torch.logsumexp`.",
    "acos": "Clamp the argument a little inside -1 and 1.",
}
_FIRST = 8  # updates looked at
_SAME = {
    "log2": "log", "log10": "log", "log1p": "log", "truediv": "div", "reciprocal": "div", "rsqrt": "sqrt", "norm": "sqrt",
    "linalg_vector_norm": "sqrt", "pow": "sqrt", "asin": "acos", "atan2": "acos", "mean": "div",
}  # fmt: skip


class NumericallyUnsafe(Cause, code="OPT-EPS"):
    """A small constant that keeps numbers apart from zero is off, or missing where one is needed.

    Adam's epsilon as large as the gradients turns it into slow gradient descent, and one of zero divides by zero; log, division and roots in a loss
    give NaN at zero. Use 1e-8 with Adam, and clamp or the stable forms in losses.
    """

    large_epsilon = convention(1e-4, "1e-8 is usual, up to 1e-5 in half precision and reinforcement learning")
    least_share = calibrated(
        0.1,
        "size of the first updates over the rate: Adam's are 0.3 to 1 by construction, unless epsilon dominates",
    )
    tiny_epsilon = convention(1e-15, "less than that is lost beside float32 values")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D110"):
            if not symptom.detail.get("grew"):
                yield from self._operation(symptom)
        for optimizer in case.trace.optimizers:
            for group in optimizer.groups[:1]:
                epsilon = group.settings.get("eps")
                if isinstance(epsilon, int | float) and optimizer.kind not in ("Adadelta", "Adafactor"):
                    yield from self._epsilon(case, optimizer, float(epsilon))

    def _operation(self, symptom: Symptom) -> Iterator[Fault]:
        """The operation that made the first invalid number, in the loss or inside the network."""
        operation = str(symptom.detail.get("operation", "")).strip("_")
        advice = _UNSAFE.get(_SAME.get(operation, operation))
        in_loss = symptom.component == "loss"
        if symptom.detail.get("phase") not in ("forward", "backward") or not (advice or in_loss):
            return
        yield self.fault(
            symptom,
            [for_symptom(symptom, PROVEN if advice else STRONG)],
            code="LOS-CALC" if in_loss else "ACT-HID-WRONG",
            component=symptom.component or "model",
            reason="All values that reached this operation were finite: it produces the invalid number.",
            remedy=advice or "Check the inputs of this operation, and keep them inside its domain.",
            refutation="Invalid numbers still appear when the argument of this line is clamped.",
            explains=("D110", "D215", "D412", "D501", "D502", "D511"),
        )

    def _epsilon(self, case: Case, optimizer: OptimizerFact, epsilon: float) -> Iterator[Fault]:
        hurt = harm(case)
        large = epsilon >= self.large_epsilon and self._share(case, optimizer) < self.least_share
        tiny = epsilon < self.tiny_epsilon
        slow = [for_symptom(s, STRONG) for s in case.of("D102")[:1]]
        broken = [for_symptom(s, STRONG) for s in case.of("D110") if s.component != "loss"]
        if not (large and (hurt or slow)) and not (tiny and (broken or case.has("D502", "D503"))):
            return
        place = setting(case, optimizer, "eps", 3)
        where = "" if place.site is None else f" in {place.site.short}"
        size = "at least as large as the gradients" if large else "too small to prevent division by zero"
        yield fault(
            self.code,
            [
                Evidence(f"The epsilon of {optimizer.name} is {epsilon:g}.", STRONG + WEAK),
                *slow,
                *broken,
                *hurt,
                *relief(case, 2 * STRONG),
            ],
            component=optimizer.name,
            site=place.site,
            summary=f"The epsilon of {optimizer.name} is {epsilon:g}, {size}.",
            reason="Each step is divided by the usual size of the gradient plus epsilon: a wrong epsilon shrinks all steps or blows up some.",
            remedy=f"Use `eps=1e-8`{where}.",
            refutation="Training is no better with the default epsilon.",
            related=place.related,
            explains=("D101", "D102", "D110", "D501", "D502", "D503", "D504", "D505", "D508"),
        )

    def _share(self, case: Case, optimizer: OptimizerFact) -> float:
        """How large the optimiser's first updates are, as a share of the rate."""
        group = optimizer.groups[0]
        rate = float(group.settings.get("lr") or 0.0)
        updates = [case.trace.series("update", name, "rms")[1][:_FIRST] for name in group.parameters]
        known = np.concatenate(updates) if updates else np.empty(0)
        return float(np.median(known)) / rate if len(known) and rate else 1.0

    FAULTY = {
        "epsilon of one": lambda: net_run(
            losses=[1.1 - 1e-4 * s for s in range(300)], settings={"eps": 1.0}, ratio=1e-5
        ),
        "the logarithm of zero": ("LOS-CALC", lambda: NonfiniteOrigin.FAULTY[0].trace),
    }


_SWINGING = [1.0 + 3.0 * abs((step % 60) - 30) / 30 for step in range(240)]
_EXPLAINS = ("D101", "D103", "D104", "D130", "D107", "D110", "D115", "D501", "D502", "D503", "D504", "D511")


class MomentumOutOfRange(Cause, code="OPT-MOMENTUM"):
    """Momentum is so high that steps go on in a direction long after it stopped being right.

    With momentum m a gradient acts for about 1/(1-m) steps, and steps grow as many times: 0.999 means a thousand. The loss swings in slow waves or
    runs away. Use 0.9, and betas of (0.9, 0.999) with Adam.
    """

    high = convention(0.98, "0.9 to 0.99 are in use; from here on a gradient acts for 50 steps and more")
    very_high = convention(0.995, "hardly anybody uses that on purpose")
    low_beta = convention(0.5, "a memory of squared gradients shorter than two steps normalises nothing")

    def accuse(self, case: Case) -> Iterator[Fault]:
        hurt = harm(case, 1.5)
        for held in case.trace.optimizers if hurt or case.has("D110") else ():
            for name, value, memory in self._odd(held):
                weight = STRONG + 2 * WEAK if value >= self.very_high or name != "momentum" else STRONG - WEAK
                text = f"The {name} of {held.name} is {value:g}."
                place = setting(case, held, "momentum" if name == "momentum" else "betas", 2)
                where = "" if place.site is None else f" in {place.site.short}"
                good = "`momentum=0.9`" if name == "momentum" else "`betas=(0.9, 0.999)`"
                yield fault(
                    self.code,
                    [Evidence(text, weight), *hurt, *relief(case, 2 * STRONG)],
                    component=held.name,
                    site=place.site,
                    summary=f"{text} A gradient then acts for about {memory:.0f} steps, and training suffers.",
                    reason="Steps keep following old directions, so the loss oscillates or diverges.",
                    remedy=f"Use {good}{where}.",
                    refutation="The usual value does not improve the curve.",
                    related=place.related,
                    explains=_EXPLAINS,
                )

    def _odd(self, optimizer: OptimizerFact) -> Iterator[tuple[str, float, float]]:
        """Momenta out of range, with the number of steps for which a gradient acts."""
        for group in optimizer.groups[:1]:
            momentum = group.settings.get("momentum")
            if isinstance(momentum, int | float) and momentum >= self.high:
                yield "momentum", float(momentum), 1 / max(1e-6, 1 - float(momentum))
            betas = group.settings.get("betas")
            if isinstance(betas, list | tuple) and len(betas) == 2:
                first, second = float(betas[0]), float(betas[1])
                if first >= self.high:
                    yield "first beta", first, 1 / max(1e-6, 1 - first)
                elif second < self.low_beta:
                    yield "second beta", second, 1 / max(1e-6, 1 - second)

    FAULTY = {
        "momentum 0.999": lambda: net_run(
            losses=_SWINGING, optimizer="SGD", settings={"lr": 0.05, "momentum": 0.999}
        )
    }


def _dying() -> Trace:
    rates = RateDies.FAULTY[0].trace.table("rate", "optimizer[0]")
    return trained(_SCHEDULER, rates, losses=[1.0, 0.9, 0.8] + [0.75] * 29)


class ScheduleRuinsRate(Cause, code="HYP-LR-SCHED"):
    """The schedule lowers the learning rate to nothing long before training is done.

    What is left of the run changes nothing any more.
    Step the scheduler where its numbers are meant (epochs or batches), or let it decay more slowly.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D210"):
            scheduler = case.trace.get(SchedulerFact, str(symptom.detail.get("scheduler")))
            evidence = [
                for_symptom(symptom, STRONG + WEAK if symptom.detail["dead"] else FAIR + WEAK / 2),
                *outcome(case, bad=FAIR + FAIR, good=-STRONG - WEAK),
            ]
            fell = symptom.detail["fell_after"]
            if fell is not None and fell > 0.3:
                evidence.append(Evidence(f"The loss fell by another {fell:.0%} after that.", -STRONG))
            if scheduler is not None and scheduler.kind == "ReduceLROnPlateau":
                text = "The rate was lowered because the loss had stopped falling."
                evidence.append(Evidence(text, -STRONG))
            yield self._fault(case, symptom, scheduler, evidence)
        for symptom in case.of("D215"):
            scheduler = case.trace.get(SchedulerFact, str(symptom.detail.get("scheduler")))
            if symptom.detail.get("rate") == 0 and scheduler is not None:
                yield self._fault(case, symptom, scheduler, [for_symptom(symptom, PROVEN)])

        for symptom in case.of("D232"):
            yield self._never_rises(case, symptom)

    def _never_rises(self, case: Case, symptom: Symptom) -> Fault:
        """The given rate may be a mere unit: that the one in use is too low must show by itself."""
        low = [s for s in case.of("D125") if s.detail.get("direction") == "low"]
        evidence = [for_symptom(symptom, FAIR), *(for_symptom(s, STRONG) for s in low[:1])]
        evidence += [for_symptom(s, FAIR) for s in case.of("D102")[:1]]
        scheduler = case.trace.get(SchedulerFact, str(symptom.detail["scheduler"]))
        kind = "schedule" if scheduler is None else scheduler.kind
        return self.fault(
            symptom,
            [*evidence, *outcome(case, bad=FAIR, good=-STRONG - WEAK)],
            component=kind,
            site=returned_factor(case.sources, symptom.site) or symptom.site,
            reason=f"The {kind} multiplies the optimiser's rate; what is left is too small to move the weights.",
            remedy="Return a factor (1.0 for the full rate), not a rate, and let a warm-up end within the run.",
            refutation="The optimiser's rate is only a unit, and the loss falls.",
            related=[symptom.site, *(optimizer.created for optimizer in case.trace.optimizers)],
            explains=(*NOT_LEARNING, "D102", "D125", "D209", "D215"),
        )

    def _fault(
        self, case: Case, symptom: Symptom, scheduler: SchedulerFact | None, evidence: list[Evidence]
    ) -> Fault:
        often = scheduler is not None and _every_step(case, scheduler.name)
        kind = "schedule" if scheduler is None else scheduler.kind
        name = "scheduler" if scheduler is None else scheduler.kind
        made = None if scheduler is None else scheduler.created
        stepped = None if scheduler is None else scheduler.stepped
        optimizers = [optimizer.created for optimizer in case.trace.optimizers]
        updated = next((optimizer.stepped for optimizer in case.trace.optimizers), None)
        by_hand = set_by_hand(case.sources, updated) if scheduler is None else None
        return self.fault(
            symptom,
            evidence,
            component=name,
            site=(stepped if often else made) or stepped or by_hand or next(iter(optimizers), None),
            reason="With a rate near zero the weights stop moving, however long the run goes on.",
            remedy=f"Step the {kind} once per epoch instead of once per batch, or give it numbers that count batches."
            if often
            else f"Let the {kind} decay more slowly: the rate should stay within a hundredth of its peak until the end.",
            refutation="The loss had reached its minimum before the rate fell.",
            related=[made, stepped, *optimizers],
            explains=(*NOT_LEARNING, "D209", "D215"),
        )

    FAULTY = (*RateNeverRises.FAULTY, Run("the rate dies while the loss is high", _dying))


def _every_step(case: Case, scheduler: str) -> bool:
    stepped = sum(p.steps * c.times for p, c in calls(case.trace, "scheduler") if c.component == scheduler)
    seen = sum(p.steps for p in case.trace.patterns if any(c.what == "step" for c in p.calls))
    return stepped > seen / 2


# calls of one layer in one forward pass: shared layers of other networks are called two or three times
_UNROLLED = 8
_SGD_RATE, _ADAM_RATE = 0.1, 0.01  # what tutorials and papers use at most


class ClippingWrong(Cause, code="OPT-CLIP"):
    """Gradient clipping is far too tight, or missing where gradients explode.

    A limit far below the usual norm turns every step into a tiny one; no limit at all lets single bursts of a recurrent network
    undo what was learned.
    Clip to about the usual norm of a healthy gradient, between backward() and step().
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        yield from self._too_tight(case)
        yield from self._misplaced(case)
        yield from self._missing(case)

    def _too_tight(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D211"):
            evidence = [for_symptom(symptom, STRONG), *outcome(case, bad=STRONG, good=-STRONG)]
            scaled = {o.kind for o in stepped_optimizers(case.trace)}.intersection(SCALED)
            # Weight decay is added behind the clipping: against it even an optimiser that divides by the size has lost the data.
            if not scaled and not case.has("D117"):
                text = "This optimiser divides by the gradient's size, so it hardly matters."
                evidence.append(Evidence(text, -2 * STRONG))
            slow = case.first("D102", "D508", "D501")
            if slow is not None:
                evidence.append(for_symptom(slow, FAIR))
            origin = argument_origin(case.sources, symptom.site, "max_norm", 1)
            limit, norm = float(symptom.detail["limit"]), float(symptom.detail["norm"])
            where = f" in {origin.site.short}" if origin is not None else ""
            yield self.fault(
                symptom,
                evidence,
                component="clip_grad_norm_",
                site=origin.site if origin is not None else symptom.site,
                reason="Every step is cut to a tiny part of its length, so learning is slower by that factor.",
                remedy=f"Raise the limit from {limit:.3g} to about {_round(norm)}{where}.",
                refutation="The learning rate compensates for it.",
                related=[symptom.site],
                explains=(*NOT_LEARNING,),
            )

    def _misplaced(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D227"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, STRONG + FAIR)],
                component="clip_grad_norm_",
                reason="The step uses unclipped gradients: the limit has no effect.",
                remedy="Move the clipping between `backward()` and the optimiser's step.",
                refutation="Gradients are accumulated over several steps on purpose.",
                explains=("D103", "D502", "D503"),
            )

    def _missing(self, case: Case) -> Iterator[Fault]:
        burst = case.first("D103", "D110", "D107", "D101")
        recurrent = _recurrent(case.trace)
        if any(True for _ in calls(case.trace, "clip")) or recurrent is None or burst is None:
            return
        if not case.has("D110", "D502", "D503") or not _ordinary_rate(case.trace):
            return
        evidence = [
            for_symptom(burst, STRONG),
            Evidence(f"Gradients pass through `{recurrent.name}` once per time step.", FAIR + WEAK),
            Evidence("The learning rate is an ordinary one.", FAIR),
        ]
        backward = next(
            (call.site for _, call in calls(case.trace, "backward") if call.site is not None), None
        )
        yield fault(
            self.code,
            evidence,
            component=recurrent.name,
            site=backward,
            summary=f"Gradients explode, and nothing limits them: {burst.message}",
            reason="A recurrent layer multiplies gradients over many time steps; one burst can undo all training.",
            remedy="Call `torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)` between backward and step.",
            refutation="A lower learning rate alone fixes it.",
            related=[recurrent.created, *(optimizer.created for optimizer in case.trace.optimizers[:1])],
            explains=UNSTABLE,
        )

    FAULTY = (
        *ClippingMisplaced.FAULTY,
        Run("nothing is left", lambda: trained(_clipped(2.0, 1e-4), losses=[1.0] * 40)),
    )


def _round(value: float) -> str:
    """One digit is all that can be said."""
    return f"{float(f'{value:.0e}'):g}"


def _recurrent(trace: Trace) -> ModuleFact | None:
    """A recurrent layer, or one that is called many times within one forward pass."""
    found = [m for m in trace.all(ModuleFact) if m.leaf and m.order is not None]
    return next((m for m in found if m.kind in RECURRENT_CELLS or m.calls >= _UNROLLED), None)


def _ordinary_rate(trace: Trace) -> bool:
    """Whether the rate is one that most networks of this kind are trained with."""
    for stepped in stepped_optimizers(trace):
        limit = _SGD_RATE if stepped.kind in SCALED else _ADAM_RATE
        rates = [group.settings.get("lr") for group in stepped.groups]
        if any(not isinstance(rate, int | float) or rate > limit for rate in rates):
            return False
    return True
