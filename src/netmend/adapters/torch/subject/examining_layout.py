"""Which parts of a loader's batch a program gives to its model, and which to its loss.

Seen once in training, it is known where an evaluation computes no loss, and for a loader that is named as a test set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

_LABELS = ("labels", "label", "targets", "target", "y")  # keys of batches

Place = int | str


@dataclass
class Layout:
    inputs: tuple[Place, ...] = ()  # empty: not seen yet
    label: Place | None = None

    def learn_inputs(self, batch: Any, given: Sequence[Tensor]) -> None:
        if not self.inputs:
            places = [place for each in given if (place := place_in(batch, each)) is not None]
            self.inputs = tuple(places) if len(places) == len(given) else ()

    def learn_label(self, batch: Any, target: Tensor) -> None:
        if self.label is None:
            self.label = place_in(batch, target)

    def inputs_in(self, batch: Any) -> list[Tensor] | None:
        parts = dict(_parts(batch))
        found = [parts[place] for place in self.inputs if place in parts]
        return found if found and len(found) == len(self.inputs) else None

    def label_in(self, batch: Any, samples: int | None, given: Sequence[Tensor] = ()) -> Tensor | None:
        """As seen in training, else by its key, else the last part that is not given to the model; None when it has other rows than the
        samples (None: any)."""
        parts = dict(_parts(batch))
        if self.label in parts and _fits(parts[self.label], samples):
            return parts[self.label].detach()
        if isinstance(batch, dict):
            found = next((parts[key] for key in _LABELS if key in parts), None)
        elif len(parts) > 1:
            others = [part for part in parts.values() if not any(_is_same(part, each) for each in given)]
            found = (others or list(parts.values()))[-1]
        else:
            return None
        return found.detach() if found is not None and _fits(found, samples) else None


def place_in(batch: Any, tensor: Tensor) -> Place | None:
    """Where in a batch the numbers of a tensor stand, in whatever shape and type."""
    return next((place for place, part in _parts(batch) if _is_same(part, tensor)), None)


def _parts(batch: Any) -> Iterator[tuple[Place, Tensor]]:
    named = (
        batch.items()
        if isinstance(batch, dict)
        else enumerate(batch)
        if isinstance(batch, list | tuple)
        else ()
    )
    for place, part in named:
        if isinstance(part, Tensor):
            yield place, part


def _fits(part: Tensor, samples: int | None) -> bool:
    return part.dim() > 0 and (samples is None or len(part) == samples)


def _is_same(part: Tensor, tensor: Tensor) -> bool:
    if part.numel() != tensor.numel() or part.is_sparse or tensor.is_sparse:
        return False
    if part.data_ptr() == tensor.data_ptr():
        return True
    mine, its = part.detach().flatten(), tensor.detach().flatten().to(part.device)
    return torch.equal(mine.double(), its.double()) if not mine.is_complex() else torch.equal(mine, its)
