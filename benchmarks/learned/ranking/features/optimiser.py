"""What steps are made of: rates over the run, momentum, epsilon, the pull of regularisation, clipping."""

from __future__ import annotations

import numpy as np

from netmend.diagnose.measures.depth import layer_weights
from netmend.diagnose.measures.rates import decays, penalty
from netmend.vocabulary import OptimizerFact, Trace
from ranking.features.numbers import NAN, decades, highest, middle, number, share

WORDS = {
    "rate_range": "decades between the highest and the last learning rate",
    "rate_half": "decades between the highest learning rate and that at half of the run",
    "rate_late": "share of the rate's changes, per step",
    "momentum": "steps that momentum averages over, in decades",
    "epsilon": "decades of the optimiser's epsilon over the usual gradient",
    "adaptive": "whether steps are scaled by the gradient's size",
    "optimizers": "number of optimisers",
    "decay_share": "decades of weight decay's pull over the data's",
    "penalty_share": "share of the objective that is a penalty",
    "clip_excess": "decades by which gradients pass the limit they are clipped to",
    "clip_share": "share of the steps that were clipped",
}


def of(trace: Trace) -> dict[str, float]:
    return _rates(trace) | _pull(trace) | _clip(trace)


def _rates(trace: Trace) -> dict[str, float]:
    found = {"optimizers": float(len(trace.optimizers))}
    tables = [table for table in trace.tables_of("rate") if len(table)]
    if tables:
        rates = [table.column("rate") for table in tables]
        found["rate_range"] = highest([decades(highest(values), float(values[-1])) for values in rates])
        half = trace.run.steps / 2
        halves = [
            decades(highest(values), float(values[max(0, int((table.steps <= half).sum()) - 1)]))
            for values, table in zip(rates, tables, strict=True)
        ]
        found["rate_half"] = highest(halves)
        found["rate_late"] = share(
            float(max(len(values) - 1 for values in rates)), float(max(1, trace.run.steps))
        )
    optimizer = max(
        trace.optimizers, key=lambda item: sum(len(g.parameters) for g in item.groups), default=None
    )
    if optimizer is not None:
        found["momentum"], found["adaptive"] = _averaging(optimizer), float(_adaptive(optimizer))
        found["epsilon"] = _epsilon(trace, optimizer)
    return found


def _averaging(optimizer: OptimizerFact) -> float:
    values = []
    for group in optimizer.groups:
        momentum, betas = group.settings.get("momentum"), group.settings.get("betas")
        if isinstance(betas, list | tuple) and betas and isinstance(betas[0], int | float):
            values.append(float(betas[0]))
        elif isinstance(momentum, int | float):
            values.append(float(momentum))
    return decades(1 / max(1e-6, 1 - max(values))) if values else 0.0


def _epsilon(trace: Trace, optimizer: OptimizerFact) -> float:
    """Above zero it is epsilon, not the gradient, that steps are divided by."""
    given = [eps for group in optimizer.groups if isinstance(eps := group.settings.get("eps"), int | float)]
    sizes = [middle(trace.table("gradient", p.name).column("rms")) for p in layer_weights(trace).values()]
    return decades(float(max(given)), middle(sizes)) if given else NAN


def _adaptive(optimizer: OptimizerFact) -> bool:
    """Told by the settings that only methods with second moments have."""
    return any(
        name in group.settings for group in optimizer.groups for name in ("betas", "alpha", "rho", "lr_decay")
    )


def _pull(trace: Trace) -> dict[str, float]:
    extra = penalty(trace)
    return {
        "decay_share": highest([decades(decay.share) for decay in decays(trace)]),
        "penalty_share": number(None if extra is None else extra.share),
    }


def _clip(trace: Trace) -> dict[str, float]:
    tables = [table for table in trace.tables_of("clip") if len(table)]
    if not tables:
        return {"clip_share": 0.0}
    norms = np.concatenate([table.column("norm") for table in tables])
    limits = np.concatenate([table.column("limit") for table in tables])
    pairs = [decades(n, m) for n, m in zip(norms.tolist(), limits.tolist(), strict=True)]
    return {"clip_excess": middle(pairs), "clip_share": float(np.mean(np.asarray(pairs) > 0))}
