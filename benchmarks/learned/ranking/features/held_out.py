"""Training set against evaluation: gaps, when the best was reached, and in which mode the model was evaluated."""

from __future__ import annotations

import numpy as np

from netmend.diagnose.measures.batches import features, training_samples
from netmend.diagnose.measures.objective import constant_of, evaluations, objective
from netmend.vocabulary import Trace
from ranking.features.numbers import NAN, decades, highest, middle, number, share

WORDS = {
    "evaluated": "number of evaluation passes, in decades",
    "evaluation_gap": "decades of the evaluation loss above the training loss at the end",
    "evaluation_level": "decades of the last evaluation loss above the best constant prediction",
    "evaluation_rise": "decades by which the evaluation loss rose after its best",
    "evaluation_best_at": "share of the run at which evaluation was best",
    "evaluation_metric": "accuracy or R² in the last evaluation",
    "evaluation_metric_gap": "accuracy or R² in training minus that in evaluation",
    "evaluation_swings": "scatter of the evaluation losses from pass to pass, relative to their size",
    "evaluation_size": "decades of the evaluation set's size over the training set's",
    "evaluation_training_mode": "share of the evaluations made in training mode",
    "evaluation_gradients": "share of the evaluations that recorded gradients",
    "evaluation_entropy": "variety of the classes predicted in evaluation, relative to the true ones",
    "evaluation_worst_recall": "share of the worst recognised class that is right in evaluation",
    "evaluation_shift": "largest difference of a feature's mean between training and evaluation, in spreads",
    "evaluation_spread": "largest ratio of a feature's spread between training and evaluation, in decades",
}


def of(trace: Trace) -> dict[str, float]:
    tables = [table for table in trace.tables_of("evaluation") if len(table)]
    found = {"evaluated": decades(float(sum(len(table) for table in tables)), 1.0) if tables else -1.0}
    if tables:
        rows = {name: np.concatenate([table.column(name) for table in tables]) for name in tables[0].columns}
        last = max(tables, key=len)
        found |= {
            "evaluation_training_mode": _mean(rows["training_mode"]),
            "evaluation_gradients": _mean(rows["grad_enabled"]),
            "evaluation_size": decades(highest(rows["samples"]), number(training_samples(trace))),
            "evaluation_entropy": share(
                middle(last.column("predicted_entropy")[-3:]), middle(last.column("label_entropy")[-3:])
            ),
            "evaluation_worst_recall": middle(last.column("worst_recall")[-3:]),
        }
    return found | _losses(trace) | _features(trace)


def _losses(trace: Trace) -> dict[str, float]:
    course, passes = objective(trace), evaluations(trace)
    if course is None or passes is None or not len(passes[1]):
        return {}
    steps, losses, metrics = passes
    best = int(np.argmin(losses))
    end = middle(losses[-2:])
    metric = middle(metrics[-2:])
    with np.errstate(divide="ignore", invalid="ignore"):
        swings = middle(np.abs(np.diff(losses)) / np.abs(losses[1:])) if len(losses) > 2 else NAN
    return {
        "evaluation_gap": decades(end, course.last),
        "evaluation_level": decades(end, constant_of(course)),
        "evaluation_rise": decades(end, float(losses[best])),
        "evaluation_best_at": share(float(steps[best]), float(max(1, course.last_step))),
        "evaluation_metric": metric,
        "evaluation_metric_gap": number((NAN if course.metric_last is None else course.metric_last) - metric),
        "evaluation_swings": swings,
    }


def _features(trace: Trace) -> dict[str, float]:
    training, evaluation = features(trace, "training"), features(trace, "evaluation")
    if training is None or evaluation is None or len(training.mean) != len(evaluation.mean):
        return {}
    spread = np.maximum(np.maximum(training.std, evaluation.std), 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log10(evaluation.std / training.std))
    return {
        "evaluation_shift": highest(np.abs(training.mean - evaluation.mean) / spread),
        "evaluation_spread": highest(ratios),
    }


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else NAN
