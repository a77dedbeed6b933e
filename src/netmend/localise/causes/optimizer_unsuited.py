"""OPT-SELECT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.measures.data import batch_size, training_samples
from netmend.diagnose.measures.motion import motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.outcome import harm, relief
from netmend.localise.rates import highest_rate
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, OptimizerFact

# Rates below which these take tiny steps by construction; they were made for rates near 1 and 0.01.
_MADE_FOR = {"Adadelta": 0.1, "Adagrad": 0.005, "Rprop": 1e-4, "ASGD": 1e-2}


@register
@dataclass(frozen=True)
class OptimizerUnsuited:
    """The optimiser does not suit the problem: its steps are tiny by construction, or die out.

    Adadelta starts from steps of a thousandth and is meant for a rate of 1; Adagrad divides by all gradients so far, so that its steps only ever shrink.
    Use Adam with a rate of 1e-3, or SGD with momentum 0.9.
    """

    code: ClassVar[str] = "OPT-SELECT"

    small_step: float = threshold(
        3e-3, "convention", "relative update that is small for the first steps of any training"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        hurt = harm(case)
        for optimizer in case.trace.optimizers if hurt or case.has("D102", "D505") else ():
            rate, limit = highest_rate(case.trace, optimizer), _MADE_FOR.get(optimizer.kind)
            motion = next((m for m in motions(case.trace) if m.optimizer == optimizer.name), None)
            if limit is None or rate is None or motion is None or rate >= limit:
                continue
            if (motion.usual if motion.usual is not None else 1.0) > self.small_step:
                continue
            evidence = [
                Evidence(
                    f"{optimizer.kind} is run with a rate of {rate:g}, made for {limit * 10:g}.",
                    STRONG + FAIR,
                )
            ]
            evidence += [for_symptom(s, FAIR) for s in case.of("D102")[:1]]
            evidence += [for_symptom(s, WEAK) for s in case.of("D505")[:1]]
            yield self._fault(case, optimizer, rate, [*evidence, *hurt, *relief(case, 2 * STRONG)])

        yield from self._second_order(case)

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
                reason="It estimates the curvature from successive gradients, which here belong to different samples.",
                remedy="Use Adam or SGD for batches, or give L-BFGS all samples at once and `line_search_fn='strong_wolfe'`.",
                refutation="L-BFGS with a line search on the whole data blows up as well.",
                explains=("D502", "D110", "D103", "D105", "D107", "D101", "D115", "D509"),
            )

    def _fault(self, case: Case, optimizer: OptimizerFact, rate: float, evidence: list[Evidence]) -> Fault:
        where = "" if optimizer.created is None else f" in {optimizer.created.short}"
        return fault(
            self.code,
            evidence,
            component=optimizer.name,
            site=optimizer.created or optimizer.stepped,
            summary=f"{optimizer.kind} with `lr={rate:g}` hardly moves the weights, and the loss hardly falls.",
            reason="This optimiser scales its own steps and needs a much higher rate than others do.",
            remedy=f"Use `torch.optim.Adam(..., lr=1e-3)`{where}, or give {optimizer.kind} its default rate.",
            refutation="Adam with the default rate is no faster.",
            explains=("D102", "D501", "D504", "D505", "D508", "D511"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "Adadelta with the rate of Adam",
            net_run(
                losses=[1.1 - 1e-4 * s for s in range(300)],
                optimizer="Adadelta",
                settings={"lr": 0.001},
                ratio=1e-5,
            ),
        ),
    )
