"""The network at work: units that are dead or saturated, signals over depth, how its weights start, what is held and used."""

from __future__ import annotations

import math
from collections.abc import Iterable

from netmend.diagnose.measures.chain import Link, chain, last_weighted
from netmend.diagnose.measures.motion import gain, weights
from netmend.vocabulary import ModuleFact, Trace
from ranking.features.numbers import NAN, decades, highest, lowest, middle, number, share

WORDS = {
    "silent_first": "largest share of units silent for all samples, at the start",
    "silent_last": "largest share of units silent for all samples, at the end",
    "silent_middle": "usual share of units silent for all samples, at the end",
    "saturated_first": "largest share of saturated units, at the start",
    "saturated_last": "largest share of saturated units, at the end",
    "spread_first": "least variety of hidden signals over samples, in decades, at the start",
    "spread_last": "least variety of hidden signals over samples, in decades, at the end",
    "signal_slope": "decades per layer by which signals grow with depth, at the start",
    "signal_growth": "largest growth of a signal over the run, in decades",
    "signal_highest": "decades of the largest hidden signal at the start",
    "gain_lowest": "decades of the smallest initial gain of a layer",
    "gain_highest": "decades of the largest initial gain of a layer",
    "gain_range": "decades between the largest and the smallest initial gain",
    "weights_offset": "largest mean of a layer's initial weights, in their own size",
    "weights_equal": "largest share of units that start equal",
    "weights_zero": "largest share of initial weights that are zero",
    "bias_size": "largest initial bias, in decades of the weights' size",
    "frozen": "share of parameters that are not trainable",
    "unheld": "share of trainable parameters that no optimiser holds",
    "without_gradient": "share of trainable parameters without a measured gradient",
    "unregistered": "number of layers that are registered nowhere",
    "unused": "share of modules that were never called",
}


def of(trace: Trace) -> dict[str, float]:
    return _units(trace, hidden_links(trace)) | _start(trace) | _held(trace)


def hidden_links(trace: Trace) -> list[Link]:
    """Operations up to the last layer with weights."""
    return [link for link in chain(trace) if link.position <= last_weighted(trace, link.model)]


def _units(trace: Trace, links: list[Link]) -> dict[str, float]:
    hidden = [link for link in links if link.kind == "activation"]
    signals = hidden or links

    def at(column: str, first: bool, among: Iterable[Link]) -> list[float]:
        rows = (trace.table("activation", link.name).column(column) for link in among)
        return [middle(values[:2] if first else values[-3:]) for values in rows]

    started, ended = at("rms", True, signals), at("rms", False, signals)
    logs = [value for value in (decades(size) for size in started) if not math.isnan(value)]
    spreads = [at("sample_spread", first, signals) for first in (True, False)]
    return {
        "silent_first": highest(at("silent_share", True, hidden)),
        "silent_last": highest(at("silent_share", False, hidden)),
        "silent_middle": middle(at("silent_share", False, hidden)),
        "saturated_first": highest(at("saturated_share", True, hidden)),
        "saturated_last": highest(at("saturated_share", False, hidden)),
        "spread_first": lowest([decades(value) for value in spreads[0]]),
        "spread_last": lowest([decades(value) for value in spreads[1]]),
        "signal_slope": (logs[-1] - logs[0]) / (len(logs) - 1) if len(logs) > 1 else NAN,
        "signal_growth": highest([decades(b, a) for a, b in zip(started, ended, strict=True)]),
        "signal_highest": max(logs, default=NAN),
    }


def _start(trace: Trace) -> dict[str, float]:
    matrices = [p for p in trace.parameters if len(p.shape) >= 2]
    offsets = [
        abs(p.initial.mean) / p.initial.rms for p in matrices if p.initial.mean is not None and p.initial.rms
    ]
    sizes = {p.module: p.initial.rms or 0.0 for p in matrices}
    biases = [
        decades(p.initial.rms, sizes[p.module])
        for p in trace.parameters
        if len(p.shape) == 1 and sizes.get(p.module) and p.name.endswith("bias")
    ]
    gains = [decades(gain(p)) for p in weights(trace)]
    return {
        "gain_lowest": lowest(gains),
        "gain_highest": highest(gains),
        "gain_range": highest(gains) - lowest(gains),
        "weights_offset": highest(offsets),
        "weights_equal": highest([number(p.symmetric_share) for p in matrices]),
        "weights_zero": highest([number(p.initial.zero_share) for p in matrices]),
        "bias_size": highest(biases),
    }


def _held(trace: Trace) -> dict[str, float]:
    every = trace.parameters
    trainable = [p for p in every if p.trainable]
    modules = [module for module in trace.all(ModuleFact) if module.leaf]
    return {
        "frozen": share(len(every) - len(trainable), len(every)),
        "unheld": share(sum(p.optimizer is None for p in trainable), len(trainable)),
        "without_gradient": share(
            sum(not len(trace.table("gradient", p.name)) for p in trainable), len(trainable)
        ),
        "unregistered": float(sum(not module.registered for module in modules)),
        "unused": share(sum(module.order is None for module in modules), len(modules)),
    }
