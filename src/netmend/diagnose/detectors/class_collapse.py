"""D511 ClassCollapse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import COLUMNS, RunFact, Symptom, Table, Trace


def _trace(predicted: list[float], labels: float, later: float | None = None) -> Trace:
    """Looks at the answers, one step after the other; with `later`, the loss of 200 more steps that were not looked at."""
    columns = COLUMNS["progress"]
    if "predicted_entropy" not in columns:  # pragma: no cover - traces of older versions
        columns = (*columns, "predicted_entropy", "label_entropy")
    values = np.full((len(predicted), len(columns)), np.nan)
    values[:, columns.index("loss")] = 0.6
    values[:, columns.index("predicted_entropy")] = predicted
    values[:, columns.index("label_entropy")] = labels
    name = "cross_entropy@train.py:20"
    count = len(predicted)
    losses = {
        step: (0.6 if step < count else later or 0.6, 1.0) for step in range(count + (200 if later else 0))
    }
    run = RunFact("example", "train.py", steps=len(losses), status="finished")
    return Trace(
        facts={"run": {run.name: run}},
        tables={
            ("progress", name): Table("progress", name, columns, np.arange(count), values),
            ("step", "optimizer"): Table.of("step", "optimizer", losses),
        },
    )


@register
class ClassCollapse:
    """The network predicts the same class for every sample, although the labels differ.

    It has found the most frequent answer and stays there. Usual causes: strong imbalance without weights, a learning rate that is too
    high, dead units before the output, an output activation that cannot tell the classes apart.
    """

    code: ClassVar[str] = "D511"

    share_limit: float = threshold(
        0.1,
        "calibrated",
        "entropy of the predicted classes over that of the labels; healthy programs end above 0.5",
    )
    least_label_entropy: float = threshold(
        0.05, "convention", "in nats: 99:1 has 0.056; below that there is one class"
    )
    least_reach: float = threshold(
        0.5,
        "convention",
        "of the run: on a busy machine close looks may stop early, and early answers are no end",
    )
    fallen_limit: float = threshold(
        0.5,
        "convention",
        "loss at the end over that at the last close look: what was given then is given no more",
    )
    least_looks: int = threshold(6, "convention", "the first batches of any network may all get one class")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in (*trace.tables_of("progress"), *trace.tables_of("evaluation")):
            share = self._share(table)
            if share is None or share > self.share_limit:
                continue
            if table.steps[-1] < self.least_reach * trace.run.steps and self._went_on(trace, table):
                continue
            where = "evaluation" if table.kind == "evaluation" else "training"
            yield Symptom(
                self.code,
                f"At the end nearly every sample in {where} was predicted as the same class, although the labels differ "
                f"(entropy of the predictions {share:.0%} of that of the labels).",
                component=table.component,
                first_step=int(table.steps[len(table) // 2]),
                observed=share,
                limit=self.share_limit,
                detail={"phase": where},
            )
            return

    def _went_on(self, trace: Trace, table: Table) -> bool:
        """Whether the loss fell a good deal after the last look at the answers."""
        course, then = objective(trace), table.column("loss")
        then = then[np.isfinite(then)][-3:]
        return course is not None and len(then) > 0 and course.last < self.fallen_limit * float(then.mean())

    def _share(self, table: Table) -> float | None:
        predicted, labels = table.column("predicted_entropy"), table.column("label_entropy")
        known = np.isfinite(predicted) & np.isfinite(labels)
        least = self.least_looks if table.kind == "progress" else 2
        if known.sum() < least:
            return None
        late = slice(-max(2, int(known.sum()) // 4), None)
        labelled = float(labels[known][late].mean())
        return (
            float(predicted[known][late].mean()) / labelled if labelled > self.least_label_entropy else None
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        tables = (*trace.tables_of("progress"), *trace.tables_of("evaluation"))
        shares = [share for table in tables if (share := self._share(table)) is not None]
        return {"share_limit": min(shares)} if shares else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("all classes are given", lambda: _trace([0.0, 0.3, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0], 1.05)),
        Run("looked at only in the beginning", lambda: _trace([0.4] + [0.0] * 9, 0.9, later=0.02)),
        Run("only one class exists", lambda: _trace([0.0] * 8, 0.0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("one class for all", lambda: _trace([0.4] + [0.0] * 9, 0.9)),
        Run(
            "looked at only in the beginning, and nothing changed",
            lambda: _trace([0.4] + [0.0] * 9, 0.9, later=0.6),
        ),
    )
