"""D117 RegulariserDominates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.decay import decays, penalty
from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.motion import motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
@dataclass(frozen=True)
class RegulariserDominates:
    """The pull of regularisation on the weights is stronger than that of the data, and little was learned.

    Weights then follow the penalty instead of the loss and go to zero. Usual causes: a weight decay taken from another optimiser or
    task, a penalty summed over all weights without a small factor. Near the optimum both pulls balance, so a run that learned is not judged.
    """

    code: ClassVar[str] = "D117"

    share_limit: float = threshold(
        0.5,
        "calibrated",
        "decay over the data's gradient, which is 1 where both hold each other in balance; healthy programs that have not converged "
        "stay below 0.03",
    )
    penalty_limit: float = threshold(
        0.3,
        "calibrated",
        "share of the objective that is not the criterion; other terms reach 0.9 in healthy programs, but weights do not shrink there",
    )
    shrink_limit: float = threshold(
        0.7,
        "calibrated",
        "weights at the end over their start; healthy programs that learned little stay above 0.86",
    )
    least_relative: float = threshold(0.3, "convention", "below that of the constant answer much was learned")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        if not self._poor(trace):
            return
        smallest = min((m.growth for m in motions(trace) if m.growth is not None), default=1.0)
        for decay in decays(trace):
            if decay.share >= self.share_limit and smallest <= self.shrink_limit:
                yield Symptom(
                    self.code,
                    f"The weight decay of {decay.setting:g} pulls {decay.share:.2g} times as hard as the data, and the weights shrank "
                    f"to {smallest:.2g} of their initial size.",
                    component=decay.optimizer,
                    observed=decay.share,
                    limit=self.share_limit,
                    detail={"form": "decay", "setting": decay.setting, "shrink": smallest},
                )
        term = penalty(trace)
        if term is not None and term.share >= self.penalty_limit and smallest <= self.shrink_limit:
            yield Symptom(
                self.code,
                f"Up to {term.share:.0%} of the objective was a penalty beside the criterion, and the weights shrank to "
                f"{smallest:.2g} of their initial size.",
                component=term.objective,
                observed=term.share,
                limit=self.penalty_limit,
                detail={"form": "penalty", "shrink": smallest},
            )

    def _poor(self, trace: Trace) -> bool:
        course = objective(trace)
        return course is not None and (
            course.last_relative is None or course.last_relative >= self.least_relative
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        if not self._poor(trace):
            return {}
        sizes = [m.growth for m in motions(trace) if m.growth is not None]
        found = {"shrink_limit": min(sizes)} if sizes else {}
        shares = [decay.share for decay in decays(trace)]
        term = penalty(trace)
        found |= {"share_limit": max(shares)} if shares else {}
        return found | {"penalty_limit": 0.0 if term is None else term.share}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("ordinary decay", net_run(optimizer="SGD", settings={"weight_decay": 1e-4})),
        Run(
            "strong decay, but it learned",
            net_run(optimizer="SGD", settings={"weight_decay": 0.5}, growth=0.3),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "decay of one",
            net_run(
                losses=flat(200),
                optimizer="SGD",
                settings={"weight_decay": 1.0, "lr": 0.1},
                growth=0.05,
                gradients=0.002,
            ),
        ),
    )
