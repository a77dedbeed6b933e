"""The first batches that reached a model, a bounded number of values of each: for questions at the end of a run, never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_MOST_BYTES = 8_000_000  # of each phase


@dataclass(frozen=True)
class Batch:
    """What a model was shown, and what its answers were compared with."""

    step: int
    inputs: Any  # arrays: one row for each sample
    targets: Any  # of an evaluation without a loss: no columns


class Batches:
    def __init__(self) -> None:
        self.training: list[Batch] = []
        self.evaluation: list[Batch] = []
        self._bytes = {"training": 0, "evaluation": 0}

    def wanted(self, phase: str) -> bool:
        return self._bytes[phase] < _MOST_BYTES

    def keep(self, phase: str, step: int, inputs: Any, targets: Any) -> None:
        kept = Batch(step, np.array(inputs), np.array(targets))
        self._bytes[phase] += kept.inputs.nbytes + kept.targets.nbytes
        if self.wanted(phase) or not self.of(phase):
            self.of(phase).append(kept)

    def of(self, phase: str) -> list[Batch]:
        return self.training if phase == "training" else self.evaluation
