"""Networks that answer the same whatever they are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import flat, trace_of
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.chain import Link, chain
from netmend.diagnose.measures.objective import objective
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import LossFact, OperandFact, RunFact, Symptom, Table, TargetFact, TaskFact, Trace

_LOSS = LossFact("cross_entropy@train.py:20", "cross_entropy", operands=(OperandFact("prediction", (32, 4)),))


class ConstantOutput(Detector, code="D109", needs_fixed_data=True):
    """The model's output is nearly the same for every sample, for the whole run.

    Something between input and output swallows the differences between samples. Usual causes: dead or saturated units, a deep stack whose signal
    fades, weights that start at or are pulled to zero, a learning rate that broke the network.
    """

    logit_limit = calibrated(0.01, "spread of scores over samples; healthy classifiers end above 0.38")
    target_limit = calibrated(
        0.01, "spread of predictions over that of the targets; healthy regressions end above 0.12"
    )
    faded_limit = convention(1e-3, "spread over size at which a hidden signal counts as the same for all")
    looks = convention(3, "several batches in a row")
    least_steps = convention(30, "an untrained deep network may still answer the same for all")
    beaten = exact(
        0.95, "of the constant prediction's loss: no answer that is the same for all gets below it"
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
        varied = "was the same for all samples"
        if spread:
            varied = f"varied over the samples by only {spread:.2g}{scale}"
        yield self.symptom(
            f"The output of {head.name} {varied}{where}.",
            (head.name, head.site if first is None else first.site),
            observed=spread,
            limit=limit,
            detail={"faded": "" if first is None else first.name},
            first_step=0,
        )

    def _spread(self, trace: Trace) -> tuple[Link, float, str] | None:
        """The layer whose output goes into the loss, and how much it varies over samples."""
        course = objective(trace)
        if course is None or course.relative is None or trace.run.steps < self.least_steps:
            return None
        if course.last_relative is not None and course.last_relative < self.beaten:
            return None  # answers differ by now; the last look at activations was before that
        loss, task = trace.get(LossFact, course.loss), trace.get(TaskFact, course.loss)
        given = loss.prediction if loss is not None else None
        heads = [link for link in chain(trace) if given is not None and link.shape == given.shape]
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

    HEALTHY = {
        "answers differ": lambda: net_run(facts=[_LOSS]),
        "too short": lambda: net_run(
            losses=flat(20), facts=[_LOSS], activations={4: {"sample_spread": 1e-6}}
        ),
        "better than one answer since the last look": lambda: net_run(
            losses=[*flat(100), *flat(100, 0.9)], facts=[_LOSS], activations={4: {"sample_spread": 1e-6}}
        ),
    }
    FAULTY = {
        "one answer": lambda: net_run(
            losses=flat(200),
            facts=[_LOSS],
            activations={2: {"sample_spread": 1e-6}, 3: {"sample_spread": 1e-6}, 4: {"sample_spread": 1e-6}},
        ),
        "one answer for all houses": lambda: net_run(
            losses=flat(200),
            facts=[_LOSS, TaskFact(_LOSS.name, "regression"), TargetFact(_LOSS.name, std=1.0)],
            activations={4: {"sample_spread": 1e-5}},
        ),
    }


def _answering(predicted: list[float], labels: float, later: float | None = None) -> Trace:
    """Looks at the answers, one step after the other; with `later`, the loss of 200 more steps that were not looked at."""
    looks = {
        step: {"loss": 0.6, "predicted_entropy": entropy, "label_entropy": labels}
        for step, entropy in enumerate(predicted)
    }
    losses = [*[0.6] * len(predicted), *([later] * 200 if later else [])]
    return trace_of(
        RunFact("example", "train.py", steps=len(losses), status="finished"),
        Table.of("progress", "cross_entropy@train.py:20", looks),
        Table.of("step", "optimizer", {step: (loss, 1.0) for step, loss in enumerate(losses)}),
    )


class ClassCollapse(Detector, code="D511", needs_fixed_data=True):
    """The network predicts the same class for every sample, although the labels differ.

    It has found the most frequent answer and stays there. Usual causes: strong imbalance without weights, a learning rate that is too
    high, dead units before the output, an output activation that cannot tell the classes apart.
    """

    share_limit = calibrated(
        0.1, "entropy of the predicted classes over that of the labels; healthy programs end above 0.5"
    )
    least_label_entropy = convention(0.05, "in nats: 99:1 has 0.056; below that there is one class")
    least_reach = convention(
        0.5, "of the run: on a busy machine close looks may stop early, and early answers are no end"
    )
    fallen_limit = convention(
        0.5, "loss at the end over that at the last close look: what was given then is given no more"
    )
    least_looks = convention(6, "the first batches of any network may all get one class")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in (*trace.tables_of("progress"), *trace.tables_of("evaluation")):
            share = self._share(table)
            if share is None or share > self.share_limit:
                continue
            if table.steps[-1] < self.least_reach * trace.run.steps and self._went_on(trace, table):
                continue
            where = "evaluation" if table.kind == "evaluation" else "training"
            message = (
                f"At the end nearly every sample in {where} was predicted as the same class, although the labels differ "
                f"(entropy of the predictions {share:.0%} of that of the labels)."
            )
            yield self.symptom(
                message,
                table.component,
                observed=share,
                limit=self.share_limit,
                detail={"phase": where},
                first_step=int(table.steps[len(table) // 2]),
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

    HEALTHY = {
        "all classes are given": lambda: _answering([0.0, 0.3, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0], 1.05),
        "looked at only in the beginning": lambda: _answering([0.4] + [0.0] * 9, 0.9, later=0.02),
        "only one class exists": lambda: _answering([0.0] * 8, 0.0),
    }
    FAULTY = {
        "one class for all": lambda: _answering([0.4] + [0.0] * 9, 0.9),
        "looked at only in the beginning, and nothing changed": lambda: _answering(
            [0.4] + [0.0] * 9, 0.9, later=0.6
        ),
    }
