"""In eval mode: does what the model says about a sequence depend on anything but its first step?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from netmend.adapters.torch.probes.bench import Bench, Found
from netmend.adapters.torch.probes.operations import Comparing, compared, name_of_operation
from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.adapters.torch.watch.replay import Place, Where

WHAT = "first step"
_LEAST_STEPS = 4
_PICKS = ("select", "slice", "index", "index_select", "gather", "narrow", "unbind", "split")
_MOST_PICKS = 200


def examine(whole: Bench) -> Found | None:
    """Asked of models with one answer per sequence; samples first."""
    bench = whole.fewer() or whole
    sequences = [index for index, leaf in enumerate(bench.batched) if _is_sequence(leaf)]
    base = bench.base
    if len(sequences) != 1 or base is None:
        return None
    later = bench.output(exchange_later_steps, only=sequences[0])
    given = bench.batched[sequences[0]]
    if later is None or torch.equal(exchange_later_steps(given.clone()), given):
        return None
    alone = torch.equal(later, base)
    if alone:  # the first steps of all samples may be alike, as the first rows of digits are
        first = bench.output(exchange_first_step, only=sequences[0])
        alone = first is not None and not torch.equal(first, base)
    values: dict[str, Any] = {"alone": alone, "steps": given.shape[1]}
    place = _picked(bench, sequences[0]) if alone else None
    if place is not None:
        values |= {"operation": place.operation, "module": place.component}
    return Found(values, place.site if place is not None else bench.call.site)


def exchange_later_steps(tensor: Tensor) -> Tensor:
    """All steps but the first become those of the neighbour."""
    tensor[:, 1:] = tensor[:, 1:].roll(1, 0)
    return tensor


def exchange_first_step(tensor: Tensor) -> Tensor:
    """The first step becomes that in the middle of the neighbour."""
    tensor[:, 0] = tensor[:, tensor.shape[1] // 2].roll(1, 0)
    return tensor


def _is_sequence(leaf: Tensor) -> bool:
    dims = 3 if leaf.is_floating_point() else 2
    return leaf.dim() == dims and leaf.dtype != torch.bool and leaf.shape[1] >= _LEAST_STEPS


def _picked(bench: Bench, sequence: int) -> Place | None:
    """The last pick of a part whose source depended on later steps, and whose result no longer does."""
    return compared(bench, _Picks, exchange_later_steps, sequence).found


class _Picks(Comparing):
    """Remembers what was picked from what; the second time, compares."""

    def __init__(self, where: Where, seen: list[tuple[Tensor, Tensor]] | None) -> None:
        super().__init__()
        self.seen: list[tuple[Tensor, Tensor]] = []
        self.found: Place | None = None
        self._where, self._reference = where, seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = name_of_operation(func)
        if name not in _PICKS or self._where.in_library or len(self.seen) >= _MOST_PICKS:
            return result
        source, picked = first_tensor(args), first_tensor(result)
        if source is None or picked is None:
            return result
        if self._reference is not None and len(self.seen) < len(self._reference):
            whole, part = self._reference[len(self.seen)]
            if _differ(whole, source) and not _differ(part, picked):
                self.found = self._where.place(name)
        self.seen.append((source.detach().clone(), picked.detach().clone()))
        return result


def _differ(one: Tensor, other: Tensor) -> bool:
    return one.shape != other.shape or not torch.equal(one, other)
