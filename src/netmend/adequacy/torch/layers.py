"""Layers: which modules are listened to, and what they give for each input: one number per unit, the mean over places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.adapters.torch.watch.kinds import channel_axis
from netmend.errors import UsageError

_WEIGHTED = (
    nn.Linear,
    nn.modules.conv._ConvNd,
    nn.RNNBase,
    nn.RNNCellBase,
    nn.Embedding,
    nn.EmbeddingBag,
    nn.MultiheadAttention,
    nn.Bilinear,
)
MOST_LAYERS = 64  # of deeper models every second, third … one; the last always
MOST_UNITS = 256  # of one layer, evenly spaced
MOST_NUMBERS = 40_000_000  # kept of all layers of one set: 160 MB
MOST_TRACE = 512  # wider traces are projected: distances stay, covariances stay solvable

INPUT, OUTPUT, ANSWER = "input", "output", "answer"
Listener = Callable[[str, nn.Module, Any, Any], None]


@dataclass(frozen=True)
class Places:
    """Where to listen: the layers of NLC, and where the traces of surprise are taken."""

    layers: tuple[str, ...]
    trace: str  # name of a module; empty: the model's answers themselves
    side: str  # input or output of it
    units: int  # of each layer, at most

    @property
    def words(self) -> str:
        return "the model's answers" if self.side == ANSWER else f"{self.side} of layer {self.trace}"


def places_of(calls: list[tuple[str, nn.Module]], layer: str | None, model: nn.Module, limit: int) -> Places:
    """Chosen by the order in which modules were called on a first batch; of a module called twice the last call counts."""
    named = dict(calls)  # a later call moves nothing: sort by the last one
    last = {name: place for place, (name, _) in enumerate(calls)}
    order = sorted(named, key=lambda name: last[name])
    weighted = [name for name in order if isinstance(named[name], _WEIGHTED)]
    chosen = weighted or [name for name in order if not any(named[name].children())]
    step = -(-len(chosen) // MOST_LAYERS) or 1
    chosen = chosen[::-1][::step][::-1]
    units = max(8, min(MOST_UNITS, MOST_NUMBERS // max(1, len(chosen) * limit)))
    if layer is not None:
        known = dict(model.named_modules())
        if layer not in known:
            names = ", ".join(name for name in known if name)
            raise UsageError(f"the model has no layer {layer!r}; it has {names or 'no named layers'}")
        return Places(tuple(chosen), layer, OUTPUT, units)
    heads = [name for name in order if isinstance(named[name], nn.Linear)] or weighted
    if not heads:
        return Places(tuple(chosen), "", ANSWER, units)
    return Places(tuple(chosen), heads[-1], INPUT, units)


@contextmanager
def listening(model: nn.Module, names: set[str] | None, heard: Listener) -> Iterator[None]:
    """Hear every call of the named modules (None: of all); no hook stays behind."""
    handles = []
    try:
        for name, module in model.named_modules():
            if names is None or name in names:

                def hook(one: nn.Module, given: Any, made: Any, name: str = name) -> None:
                    heard(name, one, given, made)

                handles.append(module.register_forward_hook(hook))
        yield
    finally:
        for handle in handles:
            handle.remove()


def unit_rows(value: Any, module: nn.Module, count: int) -> Tensor | None:
    """inputs × units: channels of images, features of sequences, averaged over places; None where inputs cannot be told apart."""
    found = first_tensor(value)
    if found is None or not found.is_floating_point() or found.dim() == 0 or not count:
        return None
    sequence_first = getattr(module, "batch_first", True) is False
    if found.dim() >= 3 and found.shape[1] == count and (sequence_first or len(found) != count):
        found = found.movedim(1, 0)
    if len(found) != count:
        if len(found) % count or found.dim() < 2:
            return None
        found = found.reshape(count, -1, *found.shape[1:]).mean(dim=1)  # places were folded into the batch
    if found.dim() == 1:
        return found.unsqueeze(1)
    axis = channel_axis(module)
    if axis is None:
        axis = 1 if found.dim() > 3 else -1
    found = found.float().movedim(axis, 1)
    return found.flatten(2).mean(dim=2) if found.dim() > 2 else found


def fewer_units(rows: Tensor, most: int) -> Tensor:
    width = rows.shape[1]
    if width <= most:
        return rows
    kept = torch.linspace(0, width - 1, most).round().long().to(rows.device)
    return rows[:, kept]


def projected(rows: Tensor) -> Tensor:
    """Onto fewer random directions, always the same ones, where rows are very wide."""
    width = rows.shape[1]
    if width <= MOST_TRACE:
        return rows
    fixed = torch.Generator().manual_seed(width)
    directions = torch.randn(width, MOST_TRACE, generator=fixed) / MOST_TRACE**0.5
    return torch.matmul(rows, directions.to(rows))
