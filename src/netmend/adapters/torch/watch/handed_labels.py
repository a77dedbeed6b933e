"""Handed labels: whether a loss is given the labels that came with the inputs, or the same labels in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.vocabulary import ProbeFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.loss_calls import LossCall
    from netmend.adapters.torch.watch.session import TorchSession

WHAT = "handed labels"
_ENOUGH = 8  # comparisons of each loss
_BATCHES = 64  # of loaders, of which the first are kept until the loss is computed
_LEAST = 4  # samples that an order is told from
_COLUMNS = 256  # numbers of a sample, evenly spaced
_SAME_ORDER = 0.999  # correlation of the samples' means: brightness, normalisation and reshaping keep it


class HandedLabels:
    """Keeps a loader's batch until the loss was computed: by reference, only for looked-at steps, nothing is copied."""

    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._batches = 0
        self._inputs: Tensor | None = None
        self._labels: list[Tensor] = []
        self._in_order = False
        self._counts: dict[str, dict[str, int]] = {}

    def arrived(self, batch: Any) -> None:
        """A loader has handed out a batch."""
        self.forget()
        self._batches += 1
        if self._batches > _BATCHES:
            return
        tensors = [tensor for tensor in tensors_in(batch) if tensor.dim() and tensor.device.type == "cpu"]
        if len(tensors) < 2 or len(tensors[0]) < _LEAST or tensors[0].numel() == len(tensors[0]):
            return
        self._inputs = tensors[0]
        rows = len(tensors[0])
        self._labels = [tensor for tensor in tensors[1:] if len(tensor) == tensor.numel() == rows]

    def forget(self) -> None:
        self._inputs, self._labels, self._in_order = None, [], False

    def fed(self, inputs: Tensor) -> None:
        """A model is given its inputs: are they the loader's, in the loader's order?"""
        if self._labels and self._inputs is not None and inputs.device.type == "cpu":
            self._in_order = inputs is self._inputs or _same_order(self._inputs, inputs.detach())

    def compared(self, call: LossCall, site: Site | None) -> None:
        target, counts = call.target, self._counts.setdefault(call.name, {})
        if not self._labels or not self._in_order or target is None or sum(counts.values()) >= _ENOUGH:
            return
        if target.device.type != "cpu" or target.numel() != self._labels[0].numel():
            return
        given = target.flatten()
        found = {_relation(labels.flatten(), given) for labels in self._labels}
        relation = next((name for name in ("same", "permuted", "shifted") if name in found), "other")
        counts[relation] = counts.get(relation, 0) + 1
        values = {name: counts.get(name, 0) for name in ("same", "permuted", "shifted", "other")}
        step = self.session.recorder.step
        self.session.recorder.fact(ProbeFact(f"{WHAT}@{call.name}", WHAT, call.name, step, values, site))


def _relation(labels: Tensor, given: Tensor) -> str:
    labels = labels.to(given.dtype)
    if torch.equal(labels, given):
        return "same"
    if torch.equal(labels.sort().values, given.sort().values):
        return "permuted"
    return "shifted" if _shifted(labels, given) else "other"


def _shifted(labels: Tensor, given: Tensor) -> bool:
    """`(labels + 1) % classes`: all class numbers moved on, the last round to the first. Two classes may well be exchanged on purpose."""
    if labels.is_floating_point() or bool((labels < 0).any()):
        return False
    differences = torch.unique(given - labels).tolist()
    if len(differences) != 2 or not differences[0] < 0 < differences[1]:
        return False
    classes = differences[1] - differences[0]
    return classes > 2 and torch.equal(given, (labels + differences[1]) % classes)


def _same_order(batch: Tensor, inputs: Tensor) -> bool:
    if len(batch) != len(inputs) or batch.numel() != inputs.numel():
        return False
    first, second = _means(batch), _means(inputs)
    spread = first.norm() * second.norm()
    return bool(spread > 0) and float(first @ second / spread) > _SAME_ORDER


def _means(samples: Tensor) -> Tensor:
    rows = samples.reshape(len(samples), -1)
    few = rows[:, :: max(1, rows.shape[1] // _COLUMNS)].float().mean(dim=1)
    return few - few.mean()
