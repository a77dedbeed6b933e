"""D409 LossSignOrUnbounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.heads import minimised
from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.diagnose.measures.progress import progress
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, OptimizerFact, Symptom, Table, Trace

_NEVER_NEGATIVE = (
    "cross_entropy",
    "nll_loss",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)


@register
class LossSignOrUnbounded:
    """What is minimised is the negative of a loss: the optimiser makes predictions worse, without end.

    A squared error or a cross entropy is never below 0, so its negative has no lower limit: the objective falls steadily, which looks
    like progress, while predictions run away from the targets. Usual causes: a minus sign too many, or one missing before a
    log-likelihood.
    """

    code: ClassVar[str] = "D409"

    least_looks: int = threshold(3, "convention", "values of the loss that are needed to see it move")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        upright = {
            loss.criterion
            for loss in minimised(trace)
            if not loss.settings.get("negated") and loss.backward is not None
        }
        if len(trace.optimizers) > 1:
            return  # players of a game: one of them may well work against a loss
        for loss in trace.losses:
            if not loss.settings.get("negated") or loss.backward is None:
                continue
            parts = self._parts(trace, loss)
            if not parts or any(part.criterion in upright for part in parts):
                continue
            part = parts[0]
            if part.criterion == "nll_loss" and not any(o.log_normalised_axes for o in part.operands):
                continue  # rewards and energies are written like this
            worse = self._worse(trace, part)
            if worse is None:
                continue
            first, last = worse
            yield Symptom(
                self.code,
                f"The objective is the negative of `{part.criterion}`, which grew from {first:.3g} to {last:.3g} in training.",
                component=part.name,
                observed=last,
                limit=first,
                site=loss.called or part.called or loss.backward,
                detail={"criterion": part.criterion, "first": first, "last": last},
            )

    @staticmethod
    def _parts(trace: Trace, loss: LossFact) -> list[LossFact]:
        """The losses that were turned round: the expression itself, or the terms it is made of."""
        if loss.criterion in _NEVER_NEGATIVE:
            return [loss]
        terms = [trace.get(LossFact, name) for name in loss.settings.get("terms", ())]
        found = [term for term in terms if term is not None and term.criterion in _NEVER_NEGATIVE]
        return found if len(found) == len(terms) else []

    def _worse(self, trace: Trace, part: LossFact) -> tuple[float, float] | None:
        """The loss itself (not its negative) at the beginning and at the end, if it grew."""
        for course in progress(trace):
            if course.loss == part.name and course.looks >= self.least_looks:
                sign = -1.0 if part.settings.get("negated") else 1.0
                first, last = sign * course.first, sign * course.last
                return (first, last) if last > first else None
        _, values = trace.loss
        if len(values) < self.least_looks:
            return None
        first, last = -float(values[0]), -float(values[-1])
        return (first, last) if last > first else None

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "an ordinary loss",
            lambda: run_of("mse_loss", given(16, 1), wanted(16, 1, whole=False), course=[1.0, 0.6, 0.4, 0.3]),
        ),
        Run(
            "a reward, written as its negative",
            lambda: run_of(
                "nll_loss",
                given(16, 4),
                wanted(16),
                form="expression",
                settings={"negated": True},
                course=[-0.1, -0.5, -1.0, -2.0],
            ),
        ),
        Run(
            "a game of two players",
            lambda: run_of(
                "binary_cross_entropy_with_logits",
                given(16, 1),
                wanted(16, 1, high=1),
                form="expression",
                settings={"negated": True},
                course=[-0.7, -0.8, -0.9, -1.2],
                more=[OptimizerFact("other", "Adam")],
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "the sign of a hand-written loss",
            lambda: run_of(
                "cross_entropy",
                given(16, 4),
                wanted(16),
                form="expression",
                settings={"negated": True},
                course=[-1.4, -2.0, -5.0, -40.0],
            ),
        ),
        Run(
            "a minus sign before the loss",
            lambda: run_of(
                "expression",
                form="expression",
                settings={"negated": True, "terms": ["mse_loss@train.py:28"]},
                more=[LossFact("mse_loss@train.py:28", "mse_loss", "function", operands=(given(16, 1),))],
                tables=[
                    Table.of(
                        "progress",
                        "mse_loss@train.py:28",
                        {0: (1.0, 1.0), 1: (2.0, 1.0), 2: (5.0, 1.0), 3: (40.0, 1.0)},
                    )
                ],
            ),
        ),
    )
