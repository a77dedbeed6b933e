"""The data and the loop that feeds it: amounts, order, scale, and how often each call is made in a step."""

from __future__ import annotations

import numpy as np

from netmend.diagnose.measures.batches import (
    Features,
    batch_size,
    class_counts,
    epochs,
    features,
    label_order,
    prints,
    target_drift,
    training_loader,
    training_samples,
)
from netmend.diagnose.measures.loop import is_training, main_pattern
from netmend.vocabulary import Trace
from ranking.features.numbers import NAN, decades, highest, lowest, middle, number, share

_COUNTED = ("zero_grad", "forward", "backward", "clip", "step", "scheduler", "train", "eval", "batch")

WORDS = {
    "steps": "optimiser steps, in decades",
    "epochs": "passes over the data, in decades",
    "samples": "training samples, in decades",
    "samples_per_parameter": "decades of training samples over parameters",
    "batch": "samples in a batch, in decades",
    "batch_share": "decades of a batch over the whole data",
    "failed": "whether the program stopped with an error",
    "label_order": "how often neighbouring labels differ, relative to random order",
    "target_drift": "decades of the batches' target variance over that of random batches",
    "class_rarest": "decades of the rarest class over an even share",
    "class_most": "share of the most frequent class",
    "classes": "number of classes seen, in decades",
    "repeats": "share of the samples of the looked-at batches that came before",
    "input_size": "decades of the usual feature's size",
    "input_largest": "decades of the largest feature's size",
    "input_uneven": "decades between the largest and the smallest feature's spread",
    "input_outlier": "decades of the most extreme value over the spread of its feature",
    "shuffled": "whether the training loader shuffles",
    "input_offset": "usual mean of a feature, in its own size",
    **{f"calls_{name}": f"calls of {name} in a usual step" for name in _COUNTED},
    "calls_clear_before_step": "whether gradients are cleared between backward and step",
    "calls_step_first": "whether the step comes before backward",
    "calls_training_mode": "share of the training passes made in training mode",
    "patterns": "different kinds of steps, in decades",
    "pattern_share": "share of steps that look like the usual one",
}


def of(trace: Trace) -> dict[str, float]:
    return _amounts(trace) | _labels(trace) | _inputs(trace) | _loop(trace)


def _amounts(trace: Trace) -> dict[str, float]:
    samples, size = number(training_samples(trace)), number(batch_size(trace))
    total = sum(model.trainable for model in trace.models)
    loader = training_loader(trace)
    return {
        "steps": decades(float(max(1, trace.run.steps))),
        "epochs": decades(epochs(trace)),
        "samples": decades(samples),
        "samples_per_parameter": decades(samples, float(total)) if total else NAN,
        "batch": decades(size),
        "batch_share": decades(size, samples),
        "failed": float(trace.run.exception is not None),
        "shuffled": number(None if loader is None else loader.shuffle),
    }


def _labels(trace: Trace) -> dict[str, float]:
    counts = class_counts(trace)
    order, drift = label_order(trace), target_drift(trace)
    total = sum(counts.values())
    seen: set[int] = set()
    again = looked = 0
    for batch in prints(trace, "training"):
        again += sum(value in seen for value in batch.hashes)
        looked += len(batch.hashes)
        seen.update(batch.hashes)
    return {
        "label_order": NAN if order is None else number(order[0]),
        "target_drift": NAN if drift is None else decades(drift[0]),
        "class_rarest": decades(min(counts.values()) * len(counts), float(total)) if total else NAN,
        "class_most": share(max(counts.values(), default=0), total),
        "classes": decades(float(len(counts))) if counts else NAN,
        "repeats": share(again, looked),
    }


def _inputs(trace: Trace) -> dict[str, float]:
    shown = features(trace, "training")
    if shown is None:
        return {}
    spreads = shown.std[shown.std > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        offsets = np.abs(shown.mean) / shown.rms
    return {
        "input_size": decades(middle(shown.rms)),
        "input_largest": decades(highest(shown.rms)),
        "input_uneven": decades(highest(spreads), lowest(spreads)),
        "input_offset": middle(offsets),
        "input_outlier": _outlier(trace, shown),
    }


def _outlier(trace: Trace, shown: Features) -> float:
    rows = [
        np.array(batch.features)
        for batch in prints(trace, "training")
        if batch.feature_axis != "token" and len(batch.features) == len(shown.mean)
    ]
    if not rows:
        return NAN
    table = np.stack(rows)
    ends = np.maximum(table[:, :, 3] - shown.mean, shown.mean - table[:, :, 2])
    with np.errstate(divide="ignore", invalid="ignore"):
        return decades(highest(ends / np.where(shown.std > 0, shown.std, np.nan)))


def _loop(trace: Trace) -> dict[str, float]:
    usual = main_pattern(trace)
    steps = sum(pattern.steps for pattern in trace.patterns)
    passes = {"train": 0, "eval": 0}
    for pattern in trace.patterns:
        for call in pattern.calls:
            if is_training(call):
                mode = "eval" if call.detail.startswith("eval") else "train"
                passes[mode] += call.times * pattern.steps
    found = {
        "patterns": decades(float(max(1, len(trace.patterns)))),
        "calls_training_mode": share(passes["train"], passes["train"] + passes["eval"]),
    }
    if usual is None:
        return found
    names = [call.what for call in usual.calls]
    backward = names.index("backward") if "backward" in names else None
    cleared = [index for index, name in enumerate(names) if name == "zero_grad"]
    counts = {name: sum(call.times for call in usual.calls if call.what == name) for name in _COUNTED}
    return found | {
        **{f"calls_{name}": float(count) for name, count in counts.items()},
        "calls_clear_before_step": float(backward is not None and any(index > backward for index in cleared)),
        "calls_step_first": float("step" in names and (backward is None or names.index("step") < backward)),
        "pattern_share": share(usual.steps, steps),
    }
