"""D412 InitialLossOff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.heads import heads
from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_CLASSES = (
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)


@register
class InitialLossOff:
    """Before anything is learned, the loss is many times that of the best constant prediction.

    An untrained classifier should be undecided, with a loss near that of the class frequencies. A much higher one means that it is
    sure of wrong answers: the first steps are spent on undoing that, or training never recovers.
    Usual causes: weights or biases that start too large, inputs that are not scaled, a head or loss that does not fit.
    """

    code: ClassVar[str] = "D412"

    relative_limit: float = threshold(
        8.0,
        "calibrated",
        "healthy classifiers begin at 0.9 to 1.9, with embeddings of unit variance as output layer at up to 5",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for name, value in self._first(trace).items():
            if value > self.relative_limit:
                head = next(head for head in heads(trace) if head.loss.name == name)
                yield Symptom(
                    self.code,
                    f"At the first step `{head.loss.criterion}` was {value:.3g} times that of the best constant prediction.",
                    component=name,
                    first_step=0,
                    observed=value,
                    limit=self.relative_limit,
                    site=head.loss.called,
                )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        values = self._first(trace).values()
        return {"relative_limit": max(values)} if values else {}

    @staticmethod
    def _first(trace: Trace) -> dict[str, float]:
        """The first loss over that of the best constant prediction, by loss; for losses about classes."""
        found = {}
        for head in heads(trace):
            if head.loss.criterion not in _CLASSES or head.loss.settings.get("negated"):
                continue
            table = trace.table("progress", head.loss.name)
            steps, losses = table.known("loss")
            _, constants = table.known("constant_loss")
            # The constant of the whole run: of a single small batch it is too low.
            usual = (
                sorted(float(value) for value in constants)[len(constants) // 2] if len(constants) else 0.0
            )
            if len(steps) and usual > 0 and int(steps[0]) == 0:
                found[head.loss.name] = float(losses[0]) / usual
        return found

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "undecided",
            lambda: run_of("cross_entropy", given(16, 4), wanted(16), course=[1.45, 1.3, 1.1], constant=1.38),
        ),
        Run(
            "large embeddings as output layer",
            lambda: run_of("cross_entropy", given(16, 4), wanted(16), course=[7.0, 4.0, 3.0], constant=1.38),
        ),
        Run(
            "real targets, far from zero",
            lambda: run_of(
                "mse_loss", given(16, 1), wanted(16, 1, low=80, high=90), course=[7000.0, 9.0], constant=8
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "sure of wrong answers",
            lambda: run_of(
                "cross_entropy", given(16, 4), wanted(16), course=[90.0, 60.0, 50.0], constant=1.38
            ),
        ),
    )
