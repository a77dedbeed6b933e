"""Learning rates of a run, and the range in which an optimiser of a kind is used when networks are trained from scratch."""

from __future__ import annotations

from netmend.library.optimisers import OPTIMISER
from netmend.vocabulary import OptimizerFact, Trace

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
