"""What the loss is given: which criterion, what the output went through, its range against that of the targets."""

from __future__ import annotations

import math

from netmend.diagnose.measures.batches import class_counts
from netmend.diagnose.measures.heads import CLASS_SCORES, REAL, YES_NO_SCORES, Head, heads
from netmend.vocabulary import OperandFact, Trace
from ranking.features.numbers import NAN, decades, number

_PROBABILITIES = ("binary_cross_entropy",)
_LAST = ("raw", "sigmoid", "tanh", "relu", "softmax", "log_softmax", "log")

WORDS = {
    "criterion_class_scores": "whether the loss takes class scores",
    "criterion_yes_no_scores": "whether the loss takes yes/no scores",
    "criterion_probabilities": "whether the loss takes probabilities",
    "criterion_log_probabilities": "whether the loss takes logarithms of probabilities",
    "criterion_real": "whether the loss compares real numbers",
    "criterion_absolute": "whether the loss is an absolute error",
    "criterion_margin": "whether the loss asks for a margin",
    "criterion_summed": "whether the loss is summed over the batch",
    "objectives": "number of minimised losses",
    **{f"output_{name}": f"whether the output comes straight out of {name}" for name in _LAST},
    "output_sums_to_one": "whether outputs sum to one over the classes",
    "output_sums_elsewhere": "whether outputs sum to one over another axis",
    "output_lowest": "lowest output, in spreads of the targets or as it is",
    "output_highest": "highest output, in spreads of the targets or as it is",
    "output_spread": "decades of the outputs' spread over the targets'",
    "output_width": "output units, in decades",
    "output_width_by_classes": "decades of the output's width over the number of classes seen",
    "output_rank_differs": "whether outputs and targets have different numbers of axes",
    "output_shape_differs": "whether outputs and targets have different shapes",
    "target_whole": "whether targets are whole numbers",
    "target_distinct": "number of different targets, in decades",
    "target_spread": "decades of the targets' spread",
    "target_offset": "decades of the targets' mean over their spread",
    "target_lowest": "lowest target",
    "target_beyond": "share of the targets' range that the output's last function cannot reach",
}


def of(trace: Trace) -> dict[str, float]:
    found = heads(trace)
    values = {"objectives": float(len(found))}
    if not found:
        return values
    head = max(found, key=lambda item: math.prod(item.given.shape) if item.given.shape else 0)
    return values | _criterion(head) | _output(head) | _target(head, len(class_counts(trace)))


def _criterion(head: Head) -> dict[str, float]:
    name = head.loss.criterion
    return {
        "criterion_class_scores": float(name in CLASS_SCORES),
        "criterion_yes_no_scores": float(name in YES_NO_SCORES),
        "criterion_probabilities": float(name in _PROBABILITIES),
        "criterion_log_probabilities": float(name in ("nll_loss", "kl_div")),
        "criterion_real": float(name in REAL),
        "criterion_absolute": float(name == "l1_loss"),
        "criterion_margin": float("margin" in name or "hinge" in name),
        "criterion_summed": float(head.loss.settings.get("reduction") == "sum"),
    }


def _output(head: Head) -> dict[str, float]:
    given, target = head.given, head.target
    scale = 1.0
    if target is not None and not target.integral and target.std:
        scale = target.std
    return {
        **{f"output_{name}": float(head.last == name) for name in _LAST},
        "output_sums_to_one": number(given.rows_sum_to_one),
        "output_sums_elsewhere": float(
            any(axis != head.class_axis for axis in (*given.normalised_axes, *given.log_normalised_axes))
        ),
        "output_lowest": _by(given.minimum, scale),
        "output_highest": _by(given.maximum, scale),
        "output_spread": decades(given.std, scale),
        "output_width": decades(head.width or NAN),
        "output_rank_differs": NAN if target is None else float(len(given.shape) != len(target.shape)),
        "output_shape_differs": NAN if target is None else float(given.shape != target.shape),
    }


def _target(head: Head, classes: int) -> dict[str, float]:
    target = head.target
    if target is None:
        return {}
    offset = NAN if target.mean is None else abs(target.mean)
    return {
        "output_width_by_classes": decades(head.width or NAN, float(classes)) if classes else NAN,
        "target_whole": number(target.integral),
        "target_distinct": decades(target.distinct),
        "target_spread": decades(target.std),
        "target_offset": decades(offset, target.std),
        "target_lowest": number(target.minimum),
        "target_beyond": _beyond(head, target),
    }


def _beyond(head: Head, target: OperandFact) -> float:
    if (
        head.image is None
        or target.minimum is None
        or target.maximum is None
        or target.maximum <= target.minimum
    ):
        return NAN
    low, high = head.image
    outside = max(0.0, low - target.minimum) + max(0.0, target.maximum - high)
    return min(1.0, outside / (target.maximum - target.minimum))


def _by(value: float | None, scale: float) -> float:
    return NAN if value is None else number(value / scale)
