"""A running average of weights: less noisy than the last step's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from netmend.mend.torch.undisturbed import copied, mendable, put_back


class Average:
    """About the last tenth of all steps counts, in long runs the last 1 / (1 − decay) steps."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._model, self._decay, self._count = model, decay, 0
        self.values = copied(model)

    @torch.no_grad()
    def add(self) -> None:
        self._count += 1
        decay = min(self._decay, self._count / (self._count + 9))
        for name, one in mendable(self._model).items():
            # lerp leaves a weight that never moved exactly as it is; a weighted sum would round it.
            self.values[name].lerp_(one.detach(), 1 - decay)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The model with the averaged weights."""
        now = copied(self._model)
        put_back(self._model, self.values)
        try:
            yield
        finally:
            put_back(self._model, now)
