"""How signals change along the depth of a network: gradients from layer to layer, the outermost layers first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netmend.diagnose.measures.chain import Link, chain
from netmend.diagnose.measures.motion import weights
from netmend.vocabulary import ParameterFact, Trace

_SHARE = 0.5  # of the looks, from the start: later, gradients go to zero because the task is solved


@dataclass(frozen=True)
class Profile:
    """How gradients change from layer to layer of one model, relative to the weights; layers in the order in which they run."""

    model: str
    layers: tuple[Link, ...]
    slope: float  # decades per layer; above 0: gradients shrink on their way back to the input

    @property
    def total(self) -> float:
        return self.slope * (len(self.layers) - 1)


def layer_weights(trace: Trace) -> dict[str, ParameterFact]:
    """The largest weight of each layer that multiplies its input, by the layer's name."""
    found: dict[str, ParameterFact] = {}
    for parameter in weights(trace):
        known = found.get(parameter.module)
        if known is None or np.prod(parameter.shape) > np.prod(known.shape):
            found[parameter.module] = parameter
    return found


@lru_cache(maxsize=16)
def profiles(trace: Trace) -> tuple[Profile, ...]:
    """One for each model with at least three layers that are not embeddings."""
    by_layer = layer_weights(trace)
    groups: dict[str, list[tuple[Link, float]]] = {}
    for link in chain(trace):
        parameter = by_layer.get(link.name)
        if link.kind not in ("linear", "recurrent") or parameter is None or _repeated(link):
            continue
        size = _relative_gradient(trace, parameter)
        if size is not None:
            groups.setdefault(link.model, []).append((link, size))
    return tuple(
        Profile(model, tuple(link for link, _ in pairs), _slope([size for _, size in pairs]))
        for model, pairs in groups.items()
        if len(pairs) >= 3
    )


def _repeated(link: Link) -> bool:
    """A layer that is called several times in a pass stands at no single depth."""
    return link.module is not None and link.module.calls > 1


def _relative_gradient(trace: Trace, parameter: ParameterFact) -> float | None:
    _steps, gradients = trace.series("gradient", parameter.name, "rms")
    _, sizes = trace.series("weight", parameter.name, "rms")
    count = max(1, int(min(len(gradients), len(sizes)) * _SHARE))
    with np.errstate(invalid="ignore"):
        ratios = gradients[:count] / np.maximum(sizes[:count], 1e-30) if len(sizes) else np.empty(0)
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.median(np.log10(ratios))) if len(ratios) else None


def _slope(values: list[float]) -> float:
    """Theil–Sen: the median of the slopes between all pairs."""
    slopes = [
        (values[j] - values[i]) / (j - i) for i in range(len(values)) for j in range(i + 1, len(values))
    ]
    return float(np.median(slopes)) if slopes else 0.0
