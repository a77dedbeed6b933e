"""D316 NormStatisticsLag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, run_with
from netmend.diagnose.measures.objective import evaluations, objective
from netmend.unit import Run, threshold
from netmend.vocabulary import ModuleFact, Site, Symptom, Table, Trace

NAN = float("nan")


def _trace(momentum: float, evaluated: list[float]) -> Trace:
    trace = run_with(falling(200, end=0.05), evaluations=evaluated)
    layer = ModuleFact(
        "net.bn", "BatchNorm2d", settings={"momentum": momentum}, order=1, created=Site("train.py", 9)
    )
    return replace(trace, facts={**trace.facts, "module": {layer.name: layer}})


def _unscored(momentum: float, mode: float) -> Trace:
    trace = _trace(momentum, [])
    passes = {199: (NAN, NAN, NAN, 500.0, 5.0, mode)}
    return replace(
        trace, tables={**trace.tables, ("evaluation", "net"): Table.of("evaluation", "net", passes)}
    )


@register
class NormStatisticsLag:
    """Batch norm's running statistics are still mostly those it was made with, and evaluation uses them.

    In training a batch is normalised with its own mean and spread; in evaluation the running ones are used, which follow by `momentum` at each step. With a tiny momentum they
    have hardly moved when the run ends.
    """

    code: ClassVar[str] = "D316"

    old_share: float = threshold(
        0.2, "exact", "share of the initial statistics that is left: (1 - momentum) ** steps"
    )
    unseen_share: float = threshold(
        0.8, "exact", "the same where no loss of evaluation was seen: evaluation has nearly another network"
    )
    least_steps: int = threshold(50, "convention", "fewer steps are a first try, not a training")
    gap_limit: float = threshold(2.5, "convention", "evaluation loss over training loss, so that it matters")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        gap = _gap(trace)
        if gap is None and not _evaluated(trace):
            return
        share = self.old_share if gap is not None else self.unseen_share
        for layer in trace.layers():
            momentum = layer.settings.get("momentum")
            if not layer.kind.startswith("BatchNorm") or not isinstance(momentum, int | float):
                continue
            if trace.run.steps < self.least_steps:
                continue
            left = (1 - float(momentum)) ** trace.run.steps
            if left > share and (gap is None or gap > self.gap_limit):
                suffers = (
                    "and evaluation uses them"
                    if gap is None
                    else f"the evaluation loss is {gap:.1f} times the training loss"
                )
                yield Symptom(
                    self.code,
                    f"After {trace.run.steps} steps with `momentum={momentum:g}` {left:.0%} of the running statistics of {layer.name} are "
                    f"still those it started with; {suffers}.",
                    component=layer.name,
                    observed=left,
                    limit=self.old_share,
                    site=layer.created,
                )
                return

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the default momentum", lambda: _trace(0.1, [0.4, 0.3, 0.2, 0.2])),
        Run("slow, but evaluation is as good", lambda: _trace(0.001, [0.4, 0.2, 0.1, 0.05])),
        Run("slow, but always in training mode", lambda: _unscored(0.0001, mode=1.0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("slow, and evaluation suffers", lambda: _trace(0.0005, [3.0, 4.0, 5.0, 6.0])),
        Run("slower, and evaluation computes no loss", lambda: _unscored(0.0001, mode=0.0)),
    )


def _gap(trace: Trace) -> float | None:
    """Evaluation loss over training loss at the end, where both are known."""
    course, passes = objective(trace), evaluations(trace)
    if course is None or passes is None or course.last <= 0:
        return None
    return float(np.median(passes[1][-3:])) / course.last


def _evaluated(trace: Trace) -> bool:
    """Whether a model was asked in evaluation mode without a loss, so that nothing says how it did."""
    return any(
        bool((table.column("training_mode") == 0).any()) and not np.isfinite(table.column("loss")).any()
        for table in trace.tables_of("evaluation")
    )
