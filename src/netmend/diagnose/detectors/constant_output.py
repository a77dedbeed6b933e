"""D109 ConstantOutput."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import Link, chain
from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, OperandFact, Symptom, TargetFact, TaskFact, Trace

_LOSS = LossFact("cross_entropy@train.py:20", "cross_entropy", operands=(OperandFact("prediction", (32, 4)),))


@register
class ConstantOutput:
    """The model's output is nearly the same for every sample, for the whole run.

    Something between input and output swallows the differences between samples. Usual causes: dead or saturated units, a deep stack whose signal
    fades, weights that start at or are pulled to zero, a learning rate that broke the network.
    """

    code: ClassVar[str] = "D109"

    logit_limit: float = threshold(
        0.01, "calibrated", "spread of scores over samples; healthy classifiers end above 0.38"
    )
    target_limit: float = threshold(
        0.01,
        "calibrated",
        "spread of predictions over that of the targets; healthy regressions end above 0.12",
    )
    faded_limit: float = threshold(
        1e-3, "convention", "spread over size at which a hidden signal counts as the same for all"
    )
    looks: int = threshold(3, "convention", "several batches in a row")
    least_steps: int = threshold(
        30, "convention", "an untrained deep network may still answer the same for all"
    )
    beaten: float = threshold(
        0.95, "exact", "of the constant prediction's loss: no answer that is the same for all gets below it"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self._spread(trace)
        if found is None:
            return
        head, spread, form = found
        limit = self.logit_limit if form == "logit_limit" else self.target_limit
        if spread > limit:
            return
        first = self._faded(trace, head)
        where = (
            "" if first is None or first.name == head.name else f"; the differences vanish after {first.name}"
        )
        scale = "" if form == "logit_limit" else " times that of the targets"
        varied = (
            f"varied over the samples by only {spread:.2g}{scale}"
            if spread
            else "was the same for all samples"
        )
        yield Symptom(
            self.code,
            f"The output of {head.name} {varied}{where}.",
            component=head.name,
            first_step=0,
            observed=spread,
            limit=limit,
            site=head.site if first is None else first.site,
            detail={"faded": "" if first is None else first.name},
        )

    def _spread(self, trace: Trace) -> tuple[Link, float, str] | None:
        """The layer whose output goes into the loss, and how much it varies over samples."""
        course = objective(trace)
        if course is None or course.relative is None or trace.run.steps < self.least_steps:
            return None
        if course.last_relative is not None and course.last_relative < self.beaten:
            return None  # answers differ by now; the last look at activations was before that
        loss, task = trace.get(LossFact, course.loss), trace.get(TaskFact, course.loss)
        shapes = [o.shape for o in loss.operands if o.role == "prediction"] if loss is not None else []
        heads = [link for link in chain(trace) if shapes and link.shape == shapes[0]]
        if not heads:
            return None
        table = trace.table("activation", heads[-1].name)
        spreads = table.column("sample_spread") * table.column("rms")
        spreads = spreads[np.isfinite(spreads)]
        if len(spreads) <= self.looks:
            return None
        last = float(spreads[-self.looks :].max())
        if task is None or task.kind != "regression":
            return heads[-1], last, "logit_limit"
        target = trace.get(TargetFact, course.loss)
        return (heads[-1], last / target.std, "target_limit") if target is not None and target.std else None

    def _faded(self, trace: Trace, head: Link) -> Link | None:
        """The first operation after which all samples look the same, at the end of the run."""
        for link in chain(trace):
            if link.model == head.model and link.position <= head.position:
                _, spreads = trace.series("activation", link.name, "sample_spread")
                if len(spreads) >= self.looks and spreads[-self.looks :].max() < self.faded_limit:
                    return link
        return None

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = self._spread(trace)
        return {} if found is None else {found[2]: found[1]}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("answers differ", lambda: net_run(facts=[_LOSS])),
        Run(
            "too short",
            lambda: net_run(losses=flat(20), facts=[_LOSS], activations={4: {"sample_spread": 1e-6}}),
        ),
        Run(
            "better than one answer since the last look",
            lambda: net_run(
                losses=[*flat(100), *flat(100, 0.9)], facts=[_LOSS], activations={4: {"sample_spread": 1e-6}}
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "one answer",
            lambda: net_run(
                losses=flat(200),
                facts=[_LOSS],
                activations={
                    2: {"sample_spread": 1e-6},
                    3: {"sample_spread": 1e-6},
                    4: {"sample_spread": 1e-6},
                },
            ),
        ),
        Run(
            "one answer for all houses",
            lambda: net_run(
                losses=flat(200),
                facts=[_LOSS, TaskFact(_LOSS.name, "regression"), TargetFact(_LOSS.name, std=1.0)],
                activations={4: {"sample_spread": 1e-5}},
            ),
        ),
    )
