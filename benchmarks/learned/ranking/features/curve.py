"""The shape of the training loss, on the scale of the best constant prediction where that is known."""

from __future__ import annotations

import numpy as np

from netmend.diagnose.measures.objective import objective, start
from netmend.diagnose.measures.progress import Progress, main_progress
from netmend.vocabulary import Trace
from netmend.vocabulary.table import FloatArray
from ranking.features.numbers import NAN, decades, finite, middle, number, share

WORDS = {
    "loss_first": "decades of the first loss above the best constant prediction",
    "loss_best": "decades of the lowest loss above the best constant prediction",
    "loss_last": "decades of the last loss above the best constant prediction",
    "loss_fall": "decades by which the loss fell",
    "loss_rise_from_best": "decades by which the loss rose again after its best",
    "loss_best_at": "share of the run at which the loss was lowest",
    "loss_half_at": "share of the run after which half of the fall was done",
    "loss_late_fall": "share of the fall that came in the last quarter of the run",
    "loss_rises": "share of the neighbouring parts of the curve that rise",
    "loss_roughness": "swings of the curve, relative to its whole range",
    "loss_noise": "scatter of the loss within parts of the run, relative to its size",
    "loss_plateau": "share of the run in which the loss stayed at its last level",
    "loss_jump": "decades by which the loss jumped in the first steps",
    "loss_nonfinite": "share of the losses that are not finite",
    "loss_negative": "whether the loss went below zero",
    "loss_memory": "how much a step's loss resembles the one before, the trend removed",
    "loss_judged": "whether a falling loss means learning here",
    "metric_first": "accuracy or R² at the start",
    "metric_last": "accuracy or R² at the end",
    "metric_fall": "accuracy or R² lost since its best",
    "entropy_predicted": "variety of the predicted classes, relative to the true ones",
    "worst_recall": "share of the worst recognised class that is right",
}


def of(trace: Trace) -> dict[str, float]:
    course = main_progress(trace)
    _, losses = trace.loss
    found = {
        "loss_nonfinite": share(float((~np.isfinite(losses)).sum()), len(losses)),
        "loss_negative": float(bool((losses < 0).any())),
        "loss_judged": float(objective(trace) is not None),
        "loss_memory": _memory(finite(losses)),
    }
    begun = start(trace)
    if begun is not None:
        found["loss_jump"] = decades(begun.overshoot)
    if course is not None:
        found |= _shape(course) | _classes(trace, course)
    return found


def _shape(course: Progress) -> dict[str, float]:
    values = course.losses
    count, span = len(values), float(values.max() - values.min())
    steps = np.abs(np.diff(values))
    fall = course.first - course.best
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = middle(np.asarray(course.errors / np.abs(values)))
    near = np.abs(values - values[-1]) <= 0.05 * max(abs(course.first - values[-1]), 1e-12)
    return {
        "loss_first": decades(course.first_relative),
        "loss_best": decades(course.best_relative),
        "loss_last": decades(course.last_relative),
        "loss_fall": decades(course.first, course.best),
        "loss_rise_from_best": decades(course.last, course.best),
        "loss_best_at": float(np.argmin(values)) / max(1, count - 1),
        "loss_half_at": float(np.argmax(values <= course.first - fall / 2)) / count if fall > 0 else NAN,
        "loss_late_fall": number((values[int(0.75 * count)] - course.last) / fall) if fall > 0 else NAN,
        "loss_rises": share(float((np.diff(values) > 0).sum()), count - 1),
        "loss_roughness": share(float(steps.sum()) - abs(float(values[-1] - values[0])), span * (count - 1)),
        "loss_noise": noise,
        "loss_plateau": float(near.mean()),
        "metric_first": number(course.metric_first),
        "metric_last": number(course.metric_last),
        "metric_fall": _difference(course.metric_best, course.metric_last),
    }


def _classes(trace: Trace, course: Progress) -> dict[str, float]:
    table = trace.table("progress", course.loss)
    predicted, true = middle(table.column("predicted_entropy")[-5:]), middle(table.column("label_entropy"))
    return {
        "entropy_predicted": share(predicted, true),
        "worst_recall": middle(table.column("worst_recall")[-5:]),
    }


def _memory(losses: FloatArray) -> float:
    """Correlation of neighbouring losses around a running mean: high where data comes sorted, below zero where steps overshoot."""
    if len(losses) < 24:
        return NAN
    width = max(5, len(losses) // 10) | 1
    padded = np.pad(losses, width // 2, mode="edge")
    rest = losses - np.lib.stride_tricks.sliding_window_view(padded, width).mean(axis=1)
    rest = np.clip(rest, *np.quantile(rest, [0.02, 0.98]))
    spread = float((rest * rest).sum())
    return number(float((rest[1:] * rest[:-1]).sum()) / spread) if spread > 0 else NAN


def _difference(first: float | None, second: float | None) -> float:
    return NAN if first is None or second is None else number(first - second)
