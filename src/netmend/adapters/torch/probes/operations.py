"""Operations: which one of a forward pass first does a certain thing; the pass is run again under a dispatch mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from netmend.adapters.torch.probes.bench import Bench, Change
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.replay import Place, Where
from netmend.library.operations import ATEN_TURNS, ATEN_VIEWS

_RANDOM = ("bernoulli", "dropout", "rand", "normal", "uniform", "exponential", "multinomial")
# They lay the numbers of a batch out anew; an axis may then no longer be that of the samples.
_REARRANGING = (*ATEN_VIEWS, "unflatten", "select", "index", "slice")
_WEIGHING = ("convolution", "addmm", "mm", "bmm", "baddbmm", "mv")
_MOST_SWAPS = 4
_FALLS_SHORT = 1e-6  # relative: less than this is rounding


def survey(bench: Bench) -> Findings:
    """One replay in eval mode, all of whose operations are looked at."""
    if "survey" not in bench.memory:
        with where_in(bench).followed() as where:
            watch = _Survey(where, bench.rows)
            bench.run(under=watch)
        bench.memory["survey"] = watch.found
    found: Findings = bench.memory["survey"]
    return found


def where_in(bench: Bench) -> Where:
    return Where(bench.session, bench.module, bench.name, bench.call.site)


Watch = TypeVar("Watch", bound="Comparing")


class Comparing(TorchDispatchMode):
    """Remembers in `seen` what the operations of a replay gave; the second time, compares with that."""

    seen: list[Any]


def compared(
    bench: Bench, make: Callable[[Where, Any], Watch], change: Change, only: int | None = None
) -> Watch:
    """A replay that is remembered, and one with something changed that was compared with it."""
    with where_in(bench).followed() as where:
        before = make(where, None)
        bench.run(under=before)
        after = make(where, before.seen)
        bench.run(change, only=only, under=after)
    return after


def name_of_operation(function: Any) -> str:
    return str(function.overloadpacket.__name__).strip("_")


def first_with_axes(value: Any) -> Tensor | None:
    return next((t for t in tensors_in(value) if t.dim()), None)


def first_mixing_operation(bench: Bench, change: Change) -> Place | None:
    """The operation after which other samples than the changed one differ, or the one that lost their axis before."""
    return compared(bench, partial(_Rows, bench.rows), change).found


@dataclass
class Findings:
    """Where random numbers are drawn, axes change places under a view, and the axis of the samples is left."""

    random: Place | None = None  # the first one
    left: Place | None = None  # the last one, if the axis did not come back after it
    swapped: list[tuple[Place, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    batch_first: bool = False  # a layer that expects samples on the first axis was used
    weighted: Place | None = None  # the first product with weights
    products: int = 0  # of matrices, and convolutions


class _Survey(TorchDispatchMode):
    def __init__(self, where: Where, rows: int) -> None:
        super().__init__()
        self._where, self._rows = where, rows
        self.found = Findings()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name, found = name_of_operation(func), self.found
        if found.random is None and any(word in name for word in _RANDOM):
            found.random = self._where.place(name)
        found.batch_first = found.batch_first or self._where.batch_first
        if name in _WEIGHING:
            found.products += 1
            found.weighted = found.weighted or self._where.place(name)
        first = first_with_axes(result)
        if first is not None and not self._where.in_library:
            self._look(name, first, first_with_axes(args))
        return result

    def _look(self, name: str, made: Tensor, given: Tensor | None) -> None:
        found = self.found
        if len(made) == self._rows:
            found.left = None
        elif given is not None and len(given) == self._rows and name in (*_REARRANGING, *ATEN_TURNS):
            found.left = self._where.place(name)
        if given is not None and name in ATEN_VIEWS and len(found.swapped) < _MOST_SWAPS:
            before, after = tuple(given.shape), tuple(made.shape)
            if reordered(before, after):
                found.swapped.append((self._where.place(name), before, after))


def reordered(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether a view has the same axes in another order: it then reads one axis as if it were the other."""
    first, second = [n for n in before if n != 1], [n for n in after if n != 1]
    return first != second and sorted(first) == sorted(second)


Seen = list[tuple[str, Tensor | None]]


class _Rows(Comparing):
    """Remembers what every operation gave for each sample; the second time, looks for where samples meet."""

    def __init__(self, rows: int, where: Where, seen: Seen | None) -> None:
        super().__init__()
        self.where, self.rows = where, rows
        self.seen: Seen = []
        self.found: Place | None = None
        self._reference = seen
        self._lost: Place | None = None  # where the axis of the samples was last left

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.found is not None:
            return result
        name = name_of_operation(func)
        first = first_with_axes(result)
        by_sample = first is not None and len(first) == self.rows
        reference = self._next(name)
        if self._reference is None:
            self.seen.append((name, first.detach().clone() if first is not None and by_sample else None))
        elif first is not None and by_sample:
            self._compare(name, first, reference)
        elif first is not None and name in _REARRANGING and not self.where.in_library:
            given = [t for t in tensors_in(args) if t.dim()]
            if any(len(t) == self.rows for t in given):
                self._lost = self.where.place(name)
        if self._reference is not None:
            self.seen.append((name, None))
        return result

    def _next(self, name: str) -> Tensor | None:
        """What this operation gave before; None when it took another way."""
        if self._reference is None or len(self.seen) >= len(self._reference):
            return None
        known, reference = self._reference[len(self.seen)]
        return reference if known == name else None

    def _compare(self, name: str, now: Tensor, before: Tensor | None) -> None:
        if before is None or before.shape != now.shape or before.dtype != now.dtype:
            return
        if _same(now[1:], before[1:]):
            if not _same(now[:1], before[:1]):
                self._lost = None  # the samples are apart again, as they should be
        else:
            self.found = self._lost or self.where.place(name)


def _same(now: Tensor, before: Tensor) -> bool:
    if torch.equal(now, before):
        return True
    if not now.is_floating_point():
        return False
    size = float(before.abs().max())
    return float((now - before).abs().max()) <= _FALLS_SHORT * size
