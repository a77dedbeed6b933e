"""Motion: how fast and how far an optimiser moves the weights, relative to their size.

Only weights that can be compared are counted: matrices and filters that start at some size. Biases and tensors that start at zero have
no meaningful relative update; the size of weights straight before a normalisation has no effect; rows of an embedding move only now and then.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netmend.diagnose.measures.loop import stepping
from netmend.vocabulary import ModuleFact, OptimizerFact, ParameterFact, Table, Trace
from netmend.vocabulary.table import FloatArray

FIRST_STEPS = 16  # steps in which a far too large rate shows: weights grow at once
WHOLE_SEARCHES = ("LBFGS",)  # one step is a whole line search
_SPARSE = 0.5  # share of zeros above which a gradient reaches only some rows
_MOSTLY_ZERO = 0.9
_NEARLY_ZERO = 0.03  # gain of weights that start next to zero on purpose (LoRA after its first step): anything is large beside them


@dataclass(frozen=True)
class Motion:
    """Medians over the comparable weights of one optimiser; None where nothing was measured."""

    optimizer: str
    tensors: int
    looks: int  # steps at which updates were measured
    steps: int  # steps of this optimiser
    early: float | None  # |update| / |weight| in the first steps, the very first left out
    usual: float | None  # the same from a tenth of the run on
    late: float | None  # in the last third
    highest: float | None  # largest median of three looks in a row, the very first step left out
    early_growth: float | None  # |weight| after the first steps / |weight| at the start
    growth: float | None  # |weight| at the last look / |weight| at the start
    travelled: float | None  # usual update times number of steps: an upper bound of the distance, in |weight|
    drift: float | None  # |weight now - weight at the start| / |weight at the start| at the last look
    last_look: int

    @staticmethod
    def unseen(optimizer: str) -> Motion:
        """Of an optimiser whose updates were never measured."""
        return Motion(optimizer, 0, 0, 0, None, None, None, None, None, None, None, None, 0)


@lru_cache(maxsize=16)
def motions(trace: Trace) -> tuple[Motion, ...]:
    """One for every optimiser (or for hand-written updates, under the name "") that moves comparable weights."""
    groups: dict[str, list[ParameterFact]] = {}
    for parameter in comparable(trace):
        groups.setdefault(parameter.optimizer or "", []).append(parameter)
    found = (_motion(trace, name, parameters) for name, parameters in groups.items())
    return tuple(motion for motion in found if motion is not None)


@lru_cache(maxsize=16)
def comparable(trace: Trace) -> tuple[ParameterFact, ...]:
    """Weights whose relative updates mean something; where that leaves none, normalised and sparse ones count too."""
    moved = [p for p in weights(trace) if len(trace.table("update", p.name))]
    normalised = before_norm(trace)
    strict = [
        p for p in moved if p.module not in normalised and not _sparse(trace, p) and gain(p) > _NEARLY_ZERO
    ]
    return tuple(strict or moved)


@lru_cache(maxsize=16)
def weights(trace: Trace) -> tuple[ParameterFact, ...]:
    """Trainable matrices and filters that do not start at zero, each shared one once."""
    return tuple(
        p
        for p in trace.parameters
        if p.trainable
        and p.tied_to is None
        and len(p.shape) >= 2
        and min(p.shape) > 0
        and (p.initial.rms or 0.0) > 0
        and (p.initial.zero_share or 0.0) < _MOSTLY_ZERO
    )


def fan_in(parameter: ParameterFact) -> int:
    """Number of inputs of one unit: all axes but the first."""
    return int(np.prod(parameter.shape[1:])) if len(parameter.shape) > 1 else 1


def gain(parameter: ParameterFact) -> float:
    """Initial size times the root of the inputs: by how much a layer changes the size of its input, about."""
    return (parameter.initial.rms or 0.0) * math.sqrt(fan_in(parameter))


@lru_cache(maxsize=16)
def before_norm(trace: Trace) -> frozenset[str]:
    """Modules whose output goes straight into a normalisation, as far as the order of calls tells."""
    layers = [module for module in trace.layers() if module.order is not None]
    found = {
        first.name
        for first, second in itertools.pairwise(layers)
        if is_norm(second) and first.model == second.model
    }
    return frozenset(found)


def is_norm(module: ModuleFact) -> bool:
    return module.qualified.startswith("torch.nn.modules") and "Norm" in module.kind


def searches(trace: Trace, motion: Motion) -> bool:
    """Whether a step of this optimiser is a whole line search, so that its length says nothing about the rate."""
    optimizer = trace.get(OptimizerFact, motion.optimizer)
    return optimizer is not None and optimizer.kind in WHOLE_SEARCHES


def _sparse(trace: Trace, parameter: ParameterFact) -> bool:
    _, zeros = trace.series("gradient", parameter.name, "zero_share")
    module = trace.get(ModuleFact, parameter.module)
    if module is None or "Embedding" not in module.kind:
        return False
    return len(zeros) > 0 and float(np.median(zeros)) > _SPARSE


def _motion(trace: Trace, optimizer: str, parameters: list[ParameterFact]) -> Motion | None:
    tables = [trace.table("update", p.name) for p in parameters]
    begun = min(int(table.steps[0]) for table in tables)
    last = max(int(table.steps[-1]) for table in tables)
    end = max(last, begun + 1, _last_step(trace, optimizer))
    steps = steps_of(trace, optimizer)
    usual_from = max(begun + FIRST_STEPS / 2, begun + 0.1 * (end - begun))

    def ratio(first: float, until: float) -> float | None:
        found = [
            float(np.median(values[there]))
            for table in tables
            if (values := table.column("ratio")) is not None
            and (there := np.isfinite(values) & (table.steps >= first) & (table.steps <= until)).any()
        ]
        return float(np.median(found)) if found else None

    usual = ratio(usual_from, end)
    typical = usual if usual is not None else ratio(begun + 1, end)
    return Motion(
        optimizer=optimizer,
        tensors=len(parameters),
        looks=max(len(table) for table in tables),
        steps=steps,
        early=ratio(begun + 1, begun + FIRST_STEPS / 2),
        usual=usual,
        late=ratio(end - (end - begun) / 3, end),
        highest=_highest(tables, begun),
        early_growth=_growth(trace, parameters, begun + max(FIRST_STEPS, 0.02 * (end - begun))),
        growth=_growth(trace, parameters, end),
        travelled=None if typical is None else typical * steps,
        drift=_drift(trace, parameters),
        last_look=last,
    )


def _highest(tables: list[Table], begun: int) -> float | None:
    """The highest of the ratios' medians over all tensors, each step taken with its neighbours."""
    known = [table.known("ratio") for table in tables]
    if not known:
        return None
    steps = np.concatenate([steps for steps, _ in known])
    ratios = np.concatenate([values for _, values in known])
    there = (steps > begun) & np.isfinite(ratios)
    steps, ratios = steps[there], ratios[there]
    if not len(steps):
        return None
    order = np.lexsort((ratios, steps))
    steps, ratios = steps[order], ratios[order]
    starts = np.flatnonzero(np.concatenate([[True], steps[1:] != steps[:-1]]))
    ends = np.concatenate([starts[1:], [len(steps)]])
    medians = (ratios[(starts + ends - 1) // 2] + ratios[(starts + ends) // 2]) / 2
    if len(medians) < 3:
        return float(np.median(medians))
    return float(np.median(np.stack([medians[:-2], medians[1:-1], medians[2:]]), axis=0).max())


def _growth(trace: Trace, parameters: list[ParameterFact], until: float) -> float | None:
    found = []
    for parameter in parameters:
        steps, sizes = trace.series("weight", parameter.name, "rms")
        there = steps <= until
        if there.any() and parameter.initial.rms:
            found.append(float(sizes[there][-1]) / parameter.initial.rms)
    return float(np.median(found)) if found else None


def _drift(trace: Trace, parameters: list[ParameterFact]) -> float | None:
    ends: list[FloatArray] = [trace.series("weight", p.name, "drift")[1][-1:] for p in parameters]
    known = np.concatenate(ends) if ends else np.empty(0)
    return float(np.median(known)) if len(known) else None


def _last_step(trace: Trace, optimizer: str) -> int:
    table = trace.table("step", optimizer)
    return int(table.steps[-1]) if len(table) else 0


def steps_of(trace: Trace, optimizer: str) -> int:
    """How many steps an optimiser made; all steps of the run where the loop was not seen."""
    seen = stepping(trace)
    total = sum(pattern.steps for pattern in seen)
    own = sum(
        pattern.steps
        for pattern in seen
        if any(call.what == "step" and call.component == optimizer for call in pattern.calls)
    )
    # Steps between looks are only counted: the share of those looked at stands for all.
    return (
        round(trace.run.steps * own / total)
        if own
        else max(trace.run.steps, len(trace.table("step", optimizer)))
    )
