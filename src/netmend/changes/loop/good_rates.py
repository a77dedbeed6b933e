"""Learning rates that suit a network: how far a step moves its weights, as a share of their size.

A good first step changes weights by about three percent of their size, whatever the optimiser; momentum repeats a step 1/(1-m) times.
With SGD that depends on the first gradients, which do not depend on the rate; Adam and its like move every weight by the rate itself.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from netmend.diagnose.measures.motion import weights
from netmend.diagnose.measures.wiring import loaded
from netmend.library.optimisers import ADAPTIVE, OPTIMISERS
from netmend.localise.lines.rates import momentum
from netmend.vocabulary import OptimizerFact, ParameterFact, Trace

# of their size that weights move in the first step of programs that learn well: 0.01 to 0.1
_GOOD_SHARE = 0.033
_FINE_TUNED = 0.1  # what was trained before is moved more carefully
_SHORT, _GOOD_SHARE_OF_SHORT = 1000, 0.045  # steps, and what Adam's are in runs that have to be quick
_LONG = 3000  # steps: longer runs are commonly given the lower, usual rate
# What most programs use; SGD's with momentum is lower.
_USUAL = {each.name: each.usual for each in OPTIMISERS if each.usual is not None}
_USUAL_WITH_MOMENTUM = 0.02
_LIMITS = {"SGD": (1e-5, 1.0)}  # beyond them, weights that start at a wrong scale were measured


def usual_rate(kind: str, repeated: float = 0.0) -> float:
    """The rate that most programs use with an optimiser, `repeated` is its momentum."""
    if kind == "SGD" and repeated >= 0.5:
        return _USUAL_WITH_MOMENTUM
    return _USUAL.get(kind, 1e-3)


def good_rate(
    trace: Trace, optimizer: OptimizerFact | None, kind: str = "", repeated: float | None = None
) -> float:
    """A rate for the weights that an optimiser holds, also when another kind of optimiser takes its place."""
    kind = kind or ("SGD" if optimizer is None else optimizer.kind)
    if repeated is None:
        repeated = 0.0 if optimizer is None or kind != "SGD" else momentum(optimizer)
    repeated = min(repeated, 0.99)
    held = _held(trace, optimizer)
    usual, moved = usual_rate(kind, repeated), _moved(trace, held, kind)
    careful = _FINE_TUNED if held and loaded(trace, held[0].name) else 1.0
    if moved is None:
        return rounded(usual * careful)
    share = _GOOD_SHARE_OF_SHORT if kind != "SGD" and 0 < trace.run.steps < _SHORT else _GOOD_SHARE
    wanted = share * careful * (1 - repeated if kind == "SGD" else 1.0) / moved
    if kind == "SGD":
        wanted = wanted ** (2 / 3) * (usual * careful) ** (1 / 3)
    elif trace.run.steps > _LONG:
        wanted = math.sqrt(wanted * usual * careful)
    low, high = _LIMITS.get(kind, (2e-4 * careful, 1e-2))
    return rounded(min(max(wanted, low), high))


def share_moved(trace: Trace, optimizer: OptimizerFact) -> float | None:
    """By how much of their size an optimiser's weights would move in the first step at a rate of 1; None where that is not known."""
    repeated = min(momentum(optimizer), 0.99) if optimizer.kind == "SGD" else 0.0
    moved = _moved(trace, _held(trace, optimizer), optimizer.kind)
    return None if moved is None else moved / (1 - repeated)


def _held(trace: Trace, optimizer: OptimizerFact | None) -> list[ParameterFact]:
    name = None if optimizer is None else optimizer.name
    every = weights(trace)
    return [parameter for parameter in every if parameter.optimizer == name] or list(every)


def _moved(trace: Trace, held: list[ParameterFact], kind: str) -> float | None:
    """By how much of their size weights move in the first step at a rate of 1."""
    sizes = [parameter.initial.rms for parameter in held if parameter.initial.rms]
    if kind in ADAPTIVE:
        return median(1 / size for size in sizes) if sizes else None
    if kind not in ("SGD", "ASGD"):
        return None  # they find their own scale
    shares = []
    for parameter in held:
        _, gradients = trace.series("gradient", parameter.name, "rms")
        first = gradients[:1]
        if len(first) and np.isfinite(first[0]) and first[0] > 0 and parameter.initial.rms:
            shares.append(float(first[0]) / parameter.initial.rms)
    return median(shares) if shares else None


def rounded(value: float) -> float:
    """The nearest of 1, 2, 3, 5 times a power of ten."""
    if value <= 0 or not math.isfinite(value):
        return value
    power = 10.0 ** math.floor(math.log10(value))
    best = min((1.0, 2.0, 3.0, 5.0, 10.0), key=lambda digit: abs(math.log(value / power / digit)))
    return float(f"{best * power:.1g}")


def rate_text(value: float) -> str:
    """As people write it: `0.003`, `1.0`, `1e-05`."""
    text = f"{float(f'{value:.2g}'):g}"
    return f"{text}.0" if text.isdigit() else text
