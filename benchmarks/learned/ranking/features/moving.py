"""How the weights move: relative updates and gradients, over time and depth."""

from __future__ import annotations

import numpy as np

from netmend.diagnose.measures.depth import layer_weights, profiles
from netmend.diagnose.measures.motion import motions
from netmend.vocabulary import Trace
from ranking.features.numbers import NAN, decades, finite, highest, lowest, middle, number

WORDS = {
    "update_early": "decades of the relative update in the first steps",
    "update_usual": "decades of the usual relative update",
    "update_late": "decades of the relative update in the last third",
    "update_highest": "decades of the highest relative update",
    "update_decline": "decades from early to late relative updates",
    "update_lowest_tensor": "decades of the slowest weight's relative update",
    "update_highest_tensor": "decades of the fastest weight's relative update",
    "update_by_depth": "decades of the first layers' relative update over the last layers'",
    "update_unchanged": "share of the weights' elements that a usual step leaves as they are",
    "weights_early_growth": "decades by which weights grew in the first steps",
    "weights_growth": "decades by which weights grew",
    "weights_travelled": "decades of the distance that weights can have moved, in their own size",
    "weights_drift": "decades of the distance that weights moved, in their own size",
    "gradient_trend": "decades by which gradients grew from the first to the last quarter",
    "gradient_peak": "decades of the largest gradient over the usual one",
    "gradient_noise": "scatter of the gradient's size from step to step, in decades",
    "gradient_slope": "decades per layer by which gradients shrink towards the input",
    "gradient_total": "decades by which gradients shrink over the whole depth",
    "gradient_zero": "share of the gradients' elements that are zero",
    "gradient_update": "decades of the relative gradient in the middle of the run",
}


def of(trace: Trace) -> dict[str, float]:
    return _motion(trace) | _tensors(trace) | _gradients(trace)


def _motion(trace: Trace) -> dict[str, float]:
    motion = max(motions(trace), key=lambda item: item.tensors, default=None)
    if motion is None:
        return {}
    return {
        "update_early": decades(motion.early),
        "update_usual": decades(motion.usual),
        "update_late": decades(motion.late),
        "update_highest": decades(motion.highest),
        "update_decline": decades(motion.early, motion.late),
        "weights_early_growth": decades(motion.early_growth),
        "weights_growth": decades(motion.growth),
        "weights_travelled": decades(motion.travelled),
        "weights_drift": decades(motion.drift),
    }


def _tensors(trace: Trace) -> dict[str, float]:
    usual = [
        decades(middle(trace.table("update", p.name).column("ratio"))) for p in layer_weights(trace).values()
    ]
    known = finite(usual)
    third = max(1, len(known) // 3)
    unchanged = [middle(table.column("unchanged_share")) for table in trace.tables_of("update")]
    return {
        "update_lowest_tensor": lowest(usual),
        "update_highest_tensor": highest(usual),
        "update_by_depth": float(known[:third].mean() - known[-third:].mean()) if len(known) > 1 else NAN,
        "update_unchanged": middle(unchanged),
    }


def _gradients(trace: Trace) -> dict[str, float]:
    norms = np.concatenate(
        [table.column("gradient_norm") for table in trace.tables_of("step")] or [np.empty(0)]
    )
    norms = norms[np.isfinite(norms) & (norms > 0)]
    quarter = max(1, len(norms) // 4)
    logs = np.log10(norms)
    profile = max(profiles(trace), key=lambda item: len(item.layers), default=None)
    zero = [
        middle(trace.table("gradient", p.name).column("zero_share")) for p in layer_weights(trace).values()
    ]
    sizes = [
        decades(
            middle(trace.table("gradient", p.name).column("rms")),
            middle(trace.table("weight", p.name).column("rms")),
        )
        for p in layer_weights(trace).values()
    ]
    enough = len(logs) >= 4
    return {
        "gradient_trend": float(np.median(logs[-quarter:]) - np.median(logs[:quarter])) if enough else NAN,
        "gradient_peak": float(logs.max() - np.median(logs)) if enough else NAN,
        "gradient_noise": float(np.median(np.abs(np.diff(logs)))) if enough else NAN,
        "gradient_slope": NAN if profile is None else number(profile.slope),
        "gradient_total": NAN if profile is None else number(profile.total),
        "gradient_zero": middle(zero),
        "gradient_update": middle(sizes),
    }
