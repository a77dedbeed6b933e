"""D415 TermWithoutBound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loss_examples import CALLED, given, run_of, wanted
from netmend.diagnose.measures.progress import Progress, progress
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


def _trace(objective: Sequence[float], loss: Sequence[float], players: int = 1) -> Trace:
    """An objective that is a squared error and something else, over the steps."""
    name = "mse_loss@train.py:28"
    return run_of(
        "expression",
        form="expression",
        settings={"terms": [name]},
        more=[
            LossFact(name, "mse_loss", "function", operands=(given(16, 1), wanted(16, 1)), called=CALLED),
            *(OptimizerFact(f"player{index}", "Adam") for index in range(1, players)),
        ],
        tables=[
            Table.of("progress", name, {step: (value,) for step, value in enumerate(loss)}),
            Table.of("step", "optimizer", {step: (value,) for step, value in enumerate(objective)}),
        ],
    )


@register
class TermWithoutBound:
    """The objective falls far below zero because of what is added to its loss, and the loss itself gets worse.

    The loss can never be negative. What is added to it has no lower bound, so that the optimiser makes it ever smaller and gives up
    everything else for it. Usual causes: a divergence or penalty with its sign turned, or subtracted where it should be added.
    """

    code: ClassVar[str] = "D415"

    depth_limit: float = threshold(
        1.0, "exact", "times the first value, below zero: no loss that may end at zero gets there"
    )
    growth_limit: float = threshold(1.2, "convention", "of the loss from its beginning to its end")
    least_looks: int = threshold(5, "convention", "values of the loss that are needed to see it grow")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        if len(trace.optimizers) > 1:
            return  # players of a game
        courses = {course.loss: course for course in progress(trace)}
        for loss in trace.losses:
            terms = [trace.get(LossFact, name) for name in loss.settings.get("terms", ())]
            known = [term for term in terms if term is not None and term.criterion in _NEVER_NEGATIVE]
            if loss.backward is None or not known or len(known) < len(terms) or loss.settings.get("negated"):
                continue
            grown = next((c for term in known if (c := courses.get(term.name)) and self._grew(c)), None)
            values = trace.loss[1]
            if grown is None or len(values) < self.least_looks or values[0] <= 0:
                continue
            first, last = float(values[0]), float(values[-1])
            if last < -self.depth_limit * first:
                yield Symptom(
                    self.code,
                    f"The objective fell from {first:.3g} to {last:.3g}, while `{known[0].criterion}` in it grew from {grown.first:.3g} to "
                    f"{grown.last:.3g}: another term of it has no lower bound.",
                    component=loss.name,
                    observed=last,
                    limit=-self.depth_limit * first,
                    site=loss.called or loss.backward,
                    detail={"loss": loss.name, "criterion": known[0].criterion},
                )

    def _grew(self, course: Progress) -> bool:
        return course.looks >= self.least_looks and course.last > self.growth_limit * course.first

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("a penalty", lambda: _trace([2.0, 1.5, 1.0, 0.8, 0.7, 0.6], [1.0, 0.8, 0.5, 0.4, 0.3, 0.3])),
        Run(
            "a loss weighted by its own uncertainty, below zero where data has no noise",
            lambda: _trace([1.0, 0.5, 0.0, -1.0, -2.0, -3.0], [1.0, 0.5, 0.2, 0.1, 0.01, 0.001]),
        ),
        Run(
            "two players",
            lambda: _trace([1.0, 0.5, -1.0, -2.0, -4.0, -9.0], [1.0, 2.0, 3.0, 4.0, 5.0, 9.0], players=2),
        ),
        Run("diverges", lambda: _trace([1.0, 5.0, 50.0, 500.0, 5e3, 5e4], [1.0, 5.0, 50.0, 500.0, 5e3, 5e4])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "the sign of a divergence",
            lambda: _trace([1.0, 0.9, 0.5, -3.0, -40.0, -900.0], [1.0, 1.0, 1.1, 1.5, 3.0, 9.0]),
        ),
    )
