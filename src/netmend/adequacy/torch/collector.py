"""Collecting: what a trained model does with its data, reduced to arrays. The model is left as it was."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.kinds import is_compiled
from netmend.adequacy.collected import Collected, Rows
from netmend.adequacy.torch.batches import Call, answer_rows, batches_of
from netmend.adequacy.torch.layers import (
    ANSWER,
    INPUT,
    MOST_NUMBERS,
    Places,
    fewer_units,
    listening,
    places_of,
    projected,
    unit_rows,
)
from netmend.errors import UsageError

_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel)


class Collector:
    """One model, several sets of data; where to listen is decided on the first batch of the first set."""

    def __init__(
        self,
        model: nn.Module,
        layer: str | None = None,
        forward: Callable[[Any, Any], Any] | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise UsageError(f"model is of type {type(model).__name__}; give a trained torch.nn.Module")
        self.model = _plain(model)
        self.layer, self.seed = layer, seed
        self._call = Call(self.model, forward)
        self._places: Places | None = None

    def collect(self, data: Any, name: str, limit: int, layers: bool = True) -> Collected:
        """Run the data through the model in evaluation mode, without gradients."""
        source = batches_of(data, name, limit, self.seed)
        gathered = _Gathered()
        with _as_it_was(self.model, self.seed):
            for batch in source.batches:
                places = self._places or self._find_places(batch, name, limit)
                self._take(batch, name, places, gathered, layers)
                if gathered.count >= limit and source.indices is None:
                    gathered.cut = True
                    break
        if not gathered.count:
            raise UsageError(f"{name} holds no inputs; give at least one batch")
        if source.indices is not None and len(source.indices) != gathered.count:
            raise UsageError(
                f"{name} gave {gathered.count} rows for {len(source.indices)} inputs; batches must keep one row per input"
            )
        notes = [source.note] if source.note else []
        if gathered.cut:
            notes.append(f"only the first {gathered.count:,} inputs were looked at; raise limit to see more")
        indices = np.arange(gathered.count, dtype=np.int64) if source.indices is None else source.indices
        total = source.total if source.indices is not None or gathered.cut else gathered.count
        assert self._places is not None
        return gathered.collected(indices, total, self._places.words, notes)

    def _find_places(self, batch: Any, name: str, limit: int) -> Places:
        calls: list[tuple[str, nn.Module, bool]] = []
        count = 0

        def heard(called: str, module: nn.Module, given: Any, made: Any) -> None:
            calls.append((called, module, unit_rows(made, module, count) is not None))

        # Once for the number of inputs, which may only be known afterwards (labels), once to listen.
        _, _, count = self._call(batch, name)
        with listening(self.model, None, heard):
            self._call(batch, name)
        usable = [(called, module) for called, module, told in calls if told and called]
        self._places = places_of(usable, self.layer, self.model, limit)
        return self._places

    def _take(self, batch: Any, name: str, places: Places, gathered: _Gathered, layers: bool) -> None:
        wanted = set(places.layers) if layers else set()
        heard: dict[str, tuple[nn.Module, Any]] = {}
        trace: list[tuple[nn.Module, Any]] = []

        def hear(called: str, module: nn.Module, given: Any, made: Any) -> None:
            if called in wanted:
                heard[called] = (module, made)
            if places.side != ANSWER and called == places.trace:
                trace[:] = [(module, given if places.side == INPUT else made)]

        names = wanted | ({places.trace} if places.side != ANSWER else set())
        with listening(self.model, names, hear):
            answer, labels, count = self._call(batch, name)
        rows = answer_rows(answer, count)
        taken = rows if places.side == ANSWER else None
        if trace:
            taken = unit_rows(trace[0][1], trace[0][0], count)
        if taken is None:
            raise UsageError(
                f"nothing could be taken from {places.words} for {name}: it gives no row per input; name another with layer"
            )
        kept = {}
        for called, (module, made) in heard.items():
            units = unit_rows(made, module, count)
            if units is not None:
                kept[called] = _numbers(fewer_units(units, places.units))
        gathered.add(count, _numbers(projected(taken.float())), rows, labels, kept)


class _Gathered:
    """Batches put together."""

    def __init__(self) -> None:
        self.count = 0
        self.cut = False
        self._traces: list[Rows] = []
        self._outputs: list[Rows] | None = []
        self._labels: list[Any] | None = []
        self._layers: dict[str, list[Rows]] = {}
        self._numbers = 0

    def add(
        self, count: int, trace: Rows, rows: Tensor | None, labels: Tensor | None, layers: dict[str, Rows]
    ) -> None:
        self.count += count
        self._traces.append(trace)
        if rows is not None:
            self._numbers += rows.numel()
        if rows is None or self._numbers > MOST_NUMBERS:
            self._outputs = None
        if self._outputs is not None and rows is not None:
            self._outputs.append(_numbers(rows.float()))
        if labels is None or (self._labels and self._labels[0].shape[1:] != labels.shape[1:]):
            self._labels = None
        if self._labels is not None and labels is not None:
            self._labels.append(
                labels.detach().float().cpu().numpy() if labels.is_floating_point() else labels.cpu().numpy()
            )
        for name, units in layers.items():
            self._layers.setdefault(name, []).append(units)

    def collected(self, indices: Any, total: int | None, words: str, notes: list[str]) -> Collected:
        whole = {name: np.concatenate(parts) for name, parts in self._layers.items() if _same_width(parts)}
        outputs = None
        if self._outputs and _same_width(self._outputs):
            outputs = np.concatenate(self._outputs)
        elif self._numbers > MOST_NUMBERS:
            notes = [*notes, "the model's answers are too many numbers to keep; uncertainty was not measured"]
        return Collected(
            np.concatenate(self._traces),
            indices,
            outputs,
            np.concatenate(self._labels) if self._labels else None,
            {name: rows for name, rows in whole.items() if len(rows) == self.count},
            total,
            words,
            tuple(notes),
        )


def _same_width(parts: list[Rows]) -> bool:
    return len({part.shape[1] for part in parts}) == 1


def _numbers(rows: Tensor) -> Rows:
    return rows.detach().to(torch.float32).cpu().numpy()


def _plain(model: nn.Module) -> nn.Module:
    """The user's own module inside what compiles or distributes it; they share their weights."""
    while isinstance(model, _WRAPPERS) or is_compiled(model):
        inner: Any = model.module if isinstance(model, _WRAPPERS) else model._orig_mod
        model = inner
    return model


@contextmanager
def _as_it_was(model: nn.Module, seed: int) -> Iterator[None]:
    """Evaluation mode and no gradients inside; afterwards modes and random states are what they were."""
    modes = {module: module.training for module in model.modules()}
    devices = {one.device.index for one in model.parameters() if one.device.type == "cuda"}
    others = np.random.get_state(), random.getstate()  # data sets augment with these
    with torch.random.fork_rng(devices=[index for index in devices if index is not None]), torch.no_grad():
        torch.default_generator.manual_seed(seed)
        model.eval()
        try:
            yield
        finally:
            np.random.set_state(others[0])
            random.setstate(others[1])
            for module, training in modes.items():
                module.training = training
