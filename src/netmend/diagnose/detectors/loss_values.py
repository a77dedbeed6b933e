"""Losses whose values or sizes are wrong from the start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.losses import given, run_of, wanted
from netmend.diagnose.measures.heads import Head, heads, minimised
from netmend.diagnose.measures.progress import progress
from netmend.diagnose.measures.wiring import wires
from netmend.library.losses import LIKELIHOODS, NEVER_NEGATIVE
from netmend.library.optimisers import SCALE_FREE
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import LossFact, OptimizerFact, Symptom, Table, Trace


class LossSignOrUnbounded(Detector, code="D409", needs_fixed_data=True):
    """What is minimised is the negative of a loss: the optimiser makes predictions worse, without end.

    A squared error or a cross entropy is never below 0, so its negative has no lower limit: the objective falls steadily, which looks
    like progress, while predictions run away from the targets. Usual causes: a minus sign too many, or one missing before a
    log-likelihood.
    """

    least_looks = convention(3, "values of the loss that are needed to see it move")

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
            message = f"The objective is the negative of `{part.criterion}`, which grew from {first:.3g} to {last:.3g} in training."
            detail = {"criterion": part.criterion, "first": first}
            yield self.symptom(
                message, part.name, last, first, detail, site=loss.called or part.called or loss.backward
            )

    @staticmethod
    def _parts(trace: Trace, loss: LossFact) -> list[LossFact]:
        """The losses that were turned round: the expression itself, or the terms it is made of."""
        if loss.criterion in NEVER_NEGATIVE:
            return [loss]
        terms = [trace.get(LossFact, name) for name in loss.settings.get("terms", ())]
        found = [term for term in terms if term is not None and term.criterion in NEVER_NEGATIVE]
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

    HEALTHY = {
        "an ordinary loss": lambda: run_of(
            "mse_loss", given(16, 1), wanted(16, 1, whole=False), course=[1.0, 0.6, 0.4, 0.3]
        ),
        "a reward, written as its negative": lambda: run_of(
            "nll_loss",
            given(16, 4),
            wanted(16),
            form="expression",
            negated=True,
            course=[-0.1, -0.5, -1.0, -2.0],
        ),
        "a game of two players": lambda: run_of(
            "binary_cross_entropy_with_logits",
            given(16, 1),
            wanted(16, 1, high=1),
            OptimizerFact("other", "Adam"),
            form="expression",
            negated=True,
            course=[-0.7, -0.8, -0.9, -1.2],
        ),
    }
    FAULTY = {
        "the sign of a hand-written loss": lambda: run_of(
            "cross_entropy",
            given(16, 4),
            wanted(16),
            form="expression",
            negated=True,
            course=[-1.4, -2.0, -5.0, -40.0],
        ),
        "a minus sign before the loss": lambda: run_of(
            "expression",
            LossFact("mse_loss@train.py:28", "mse_loss", "function", operands=(given(16, 1),)),
            Table.of(
                "progress",
                "mse_loss@train.py:28",
                {0: (1.0, 1.0), 1: (2.0, 1.0), 2: (5.0, 1.0), 3: (40.0, 1.0)},
            ),
            negated=True,
            terms=["mse_loss@train.py:28"],
        ),
    }


class LossSummed(Detector, code="D410", needs_fixed_data=True):
    """The loss is summed over the batch instead of averaged, and training does not cope with it.

    The gradient is then as many times larger as there are samples, and so is the step with plain SGD: a rate that suits
    a mean is far too high. With a rate chosen for it, a sum is as good as a mean, so only runs that fail are told; optimisers such as
    Adam divide each gradient by its usual size, so a sum makes no difference to them.
    Usual causes: reduction="sum", or .sum() in a hand-written loss, with a usual learning rate.
    """

    least_elements = convention(8, "a sum over fewer values hardly differs from a mean")
    relative_limit = exact(
        1.0, "a loss above that of the best constant prediction: nothing was learned, or it was lost again"
    )
    least_looks = convention(8, "values of the loss that are needed to say that it fails")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        if trace.optimizers and all(optimizer.kind in SCALE_FREE for optimizer in trace.optimizers):
            return
        if not any(wire.changed is not False for wire in wires(trace)) and wires(trace):
            return  # nothing was moved by it
        for head in heads(trace):
            elements = self._elements(head)
            if head.loss.settings.get("reduction") != "sum" or elements < self.least_elements:
                continue
            how = self._fails(trace, head.loss.name)
            if how is not None:
                message = f"`{head.loss.criterion}` is summed over {elements} values of a batch instead of averaged, and {how}."
                yield self.symptom(
                    message,
                    (head.loss.name, head.loss.line),
                    observed=float(elements),
                    limit=float(self.least_elements),
                    detail={"elements": elements, "loss": head.loss.name},
                )

    @staticmethod
    def _elements(head: Head) -> int:
        classes = head.loss.criterion in ("cross_entropy", "nll_loss")
        return head.rows if classes else math.prod(head.given.shape)

    def _fails(self, trace: Trace, name: str) -> str | None:
        table = trace.table("progress", name)
        values = table.column("loss") if len(table) else trace.loss[1]
        if len(values) and not np.isfinite(values).all():
            return "the loss became NaN"
        for course in progress(trace):
            if course.loss != name or course.looks < self.least_looks or course.relative is None:
                continue
            late = float(np.min(course.relative[-max(1, len(course.relative) // 4) :]))
            if late > self.relative_limit:
                return f"the loss ended {late:.3g} times as high as that of the best constant prediction"
        return None

    HEALTHY = {
        "a sum with a rate that suits it": lambda: run_of(
            "mse_loss",
            given(32, 1),
            wanted(32, 1, whole=False),
            reduction="sum",
            course=[40.0, 20, 12, 9, 8, 8, 7, 7, 6, 6],
            constant=32.0,
        ),
        "a sum that Adam does not feel": lambda: run_of(
            "mse_loss",
            given(32, 1),
            wanted(32, 1, whole=False),
            OptimizerFact("optimizer", "Adam"),
            reduction="sum",
            course=[40.0, 45, 39, 44, 38, 42, 40, 39, 41, 38],
            constant=32.0,
        ),
        "a mean that does not learn": lambda: run_of(
            "mse_loss", given(32, 1), wanted(32, 1, whole=False), course=[1.0, 1.2] * 6, constant=1.0
        ),
    }
    FAULTY = {
        "a sum that runs away": lambda: run_of(
            "mse_loss",
            given(32, 1),
            wanted(32, 1, whole=False),
            reduction="sum",
            course=[40.0, 200, 900, 4000, 2e4, 9e4, 4e5, 1e6, 1e7, math.nan],
            constant=32.0,
        ),
        "a sum that never gets below the constant prediction": lambda: run_of(
            "cross_entropy",
            given(64, 4),
            wanted(64),
            reduction="sum",
            course=[90.0, 300, 200, 350, 220, 310, 260, 330, 210, 300],
            constant=88.0,
        ),
    }


class InitialLossOff(Detector, code="D412", needs_fixed_data=True):
    """Before anything is learned, the loss is many times that of the best constant prediction.

    An untrained classifier should be undecided, with a loss near that of the class frequencies. A much higher one means that it is
    sure of wrong answers: the first steps are spent on undoing that, or training never recovers.
    Usual causes: weights or biases that start too large, inputs that are not scaled, a head or loss that does not fit.
    """

    relative_limit = calibrated(
        8.0,
        "healthy classifiers begin at 0.9 to 1.9, with embeddings of unit variance as output layer at up to 5",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for name, value in self._first(trace).items():
            if value > self.relative_limit:
                head = next(head for head in heads(trace) if head.loss.name == name)
                message = f"At the first step `{head.loss.criterion}` was {value:.3g} times that of the best constant prediction."
                yield self.symptom(
                    message, name, value, self.relative_limit, first_step=0, site=head.loss.called
                )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        values = self._first(trace).values()
        return {"relative_limit": max(values)} if values else {}

    @staticmethod
    def _first(trace: Trace) -> dict[str, float]:
        """The first loss over that of the best constant prediction, by loss; for losses about classes."""
        found = {}
        for head in heads(trace):
            if head.loss.criterion not in LIKELIHOODS or head.loss.settings.get("negated"):
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

    HEALTHY = {
        "undecided": lambda: run_of(
            "cross_entropy", given(16, 4), wanted(16), course=[1.45, 1.3, 1.1], constant=1.38
        ),
        "large embeddings as output layer": lambda: run_of(
            "cross_entropy", given(16, 4), wanted(16), course=[7.0, 4.0, 3.0], constant=1.38
        ),
        "real targets, far from zero": lambda: run_of(
            "mse_loss", given(16, 1), wanted(16, 1, low=80, high=90), course=[7000.0, 9.0], constant=8
        ),
    }
    FAULTY = {
        "sure of wrong answers": lambda: run_of(
            "cross_entropy", given(16, 4), wanted(16), course=[90.0, 60.0, 50.0], constant=1.38
        )
    }
