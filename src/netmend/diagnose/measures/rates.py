"""Learning rates and the ranges they are used in; how much of a step is the pull towards zero, of the objective a penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.diagnose.measures.motion import comparable, weights
from netmend.diagnose.measures.objective import objective
from netmend.library.optimisers import OPTIMISER
from netmend.vocabulary import LossFact, OptimizerFact, ParameterFact, Trace

PLAIN = ("SGD", "ASGD")  # follow the gradient as it is: steps are as small as it is
_SOME = 0.3  # momentum from which steps are clearly longer than the gradient alone makes them
_PUSHED = 0.8  # momentum from which steps are several times longer than the gradient alone makes them


def highest_rate(trace: Trace, optimizer: OptimizerFact) -> float | None:
    """The largest rate that any of its groups had during the run."""
    found = [
        float(group.settings["lr"])
        for group in optimizer.groups
        if isinstance(group.settings.get("lr"), int | float)
    ]
    for index in range(len(optimizer.groups)):
        _, rates = trace.series("rate", f"{optimizer.name}[{index}]", "rate")
        found.extend(float(rate) for rate in rates)
    return max(found, default=None)


def momentum(optimizer: OptimizerFact) -> float:
    """The share of the last step that is repeated in the next: SGD's momentum, Adam's first beta."""
    found = [0.0]
    for group in optimizer.groups:
        given, betas = group.settings.get("momentum"), group.settings.get("betas")
        found.append(float(given) if isinstance(given, int | float) else 0.0)
        found.append(float(betas[0]) if isinstance(betas, list | tuple) and betas else 0.0)
    return max(found)


def plain(optimizer: OptimizerFact) -> bool:
    """Whether steps are the gradient times the rate, with next to no momentum."""
    return optimizer.kind in PLAIN and momentum(optimizer) < _SOME


def pushed(optimizer: OptimizerFact) -> bool:
    """Whether momentum makes steps several times longer than the gradient alone."""
    return momentum(optimizer) >= _PUSHED


def usual_range(optimizer: OptimizerFact) -> tuple[float, float] | None:
    """Rates outside of which hardly anybody trains from scratch with this optimiser; None where no such range is known."""
    if optimizer.kind == "SGD":
        return (5e-3, 0.4) if pushed(optimizer) else (5e-3, 0.8)
    return OPTIMISER[optimizer.kind].usual_range if optimizer.kind in OPTIMISER else None


_LOOKS = 5  # at each end of the run
_DECOUPLED = (
    "AdamW",
    "SGDW",
    "NAdamW",
    "Lion",
    "Adafactor",
)  # decay acts on weights, not through the gradient


@dataclass(frozen=True)
class Decay:
    """Weight decay of a group of an optimiser's parameters."""

    optimizer: str
    setting: float
    share: float  # size of the decay term over that of the data's gradient (or of the whole step where it acts on weights)


def decays(trace: Trace) -> list[Decay]:
    """Groups with weight decay; the median over their weights in the second half of the looks."""
    found = []
    for optimizer in trace.optimizers:
        for index, group in enumerate(optimizer.groups):
            setting = group.settings.get("weight_decay")
            if not isinstance(setting, int | float) or setting <= 0:
                continue
            shares = _shares(trace, optimizer, index, float(setting))
            if shares:
                found.append(Decay(optimizer.name, float(setting), float(np.median(shares))))
    return found


def _shares(trace: Trace, optimizer: OptimizerFact, index: int, setting: float) -> list[float]:
    group = optimizer.groups[index]
    decoupled = optimizer.kind in _DECOUPLED or bool(group.settings.get("decoupled_weight_decay"))
    rate = float(group.settings.get("lr") or 0.0)
    shares = []
    for parameter in weights(trace):
        if parameter.name not in group.parameters:
            continue
        sizes = trace.table("weight", parameter.name).column("rms")
        others = trace.table("update" if decoupled else "gradient", parameter.name).column("rms")
        count = min(len(sizes), len(others))
        if count < 4:
            continue
        half = slice(count // 2, count)
        pull = sizes[half] * setting * (rate if decoupled else 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = pull / others[half]
        ratios = ratios[np.isfinite(ratios)]
        if len(ratios):
            shares.append(float(np.median(ratios)))
    return shares


@dataclass(frozen=True)
class Penalty:
    """Terms of the objective beside the criterion."""

    objective: str
    share: float  # of the objective's value, at the start or at the end of the run, whichever is more


def penalty(trace: Trace) -> Penalty | None:
    """Where the objective is a sum with one recognised criterion: how much of it is something else."""
    course = objective(trace)
    sums = [
        loss
        for loss in trace.all(LossFact)
        if loss.backward is not None and len(loss.settings.get("terms", ())) == 1
    ]
    if course is None or len(sums) != 1 or course.loss not in sums[0].settings["terms"]:
        return None
    by_step = dict(zip(*(values.tolist() for values in trace.loss), strict=True))
    steps, values = trace.series("progress", course.loss, "loss")
    shares = [
        1 - value / by_step[step]
        for step, value in zip(steps.tolist(), values.tolist(), strict=True)
        if by_step.get(step, 0.0) > 0
    ]
    ends = [float(np.median(part)) for part in (shares[:_LOOKS], shares[-_LOOKS:]) if part]
    return Penalty(sums[0].name, max(ends)) if ends else None


def most_shrunk(trace: Trace) -> tuple[ParameterFact, float] | None:
    """The one weight that shrank most, and its size at the end over its start; a penalty may be on a single layer."""
    found = []
    for parameter in comparable(trace):
        _, sizes = trace.series("weight", parameter.name, "rms")
        if len(sizes) and parameter.initial.rms:
            found.append((parameter, float(sizes[-1]) / parameter.initial.rms))
    return min(found, key=lambda item: item[1], default=None)
