"""One call of a loss function: what is remembered of it, without its graph."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from netmend.adapters.torch.watch.eligible import plain
from netmend.library.losses import LOSS

CRITERIA = tuple(LOSS)


@dataclass
class LossCall:
    """One call of a loss function; holds no graph."""

    name: str
    criterion: str
    result: weakref.ref[Tensor]
    prediction: Tensor | None
    target: Tensor | None
    scalar: Tensor  # detached
    compute: Callable[[Tensor], Tensor] | None = (
        None  # the same loss for another prediction; None where not known
    )
    output: int = (
        -1
    )  # which of the model's outputs the prediction is, perhaps in another shape; -1: none of them

    def of_outputs(self, outputs: Sequence[Tensor]) -> Tensor | None:
        """The loss that other outputs of the model would have had."""
        if self.compute is None or self.prediction is None or not 0 <= self.output < len(outputs):
            return None
        given = outputs[self.output]
        if given.numel() != self.prediction.numel():
            return None
        return self.compute(given.reshape(self.prediction.shape))

    def again(self, outputs: Sequence[Tensor]) -> float | None:
        with torch.no_grad():
            value = self.of_outputs(outputs)
        return None if value is None else float(value.float().mean())


def flattened(output: tuple[int, ...] | None, prediction: Any) -> bool:
    """Whether the model gave classes for every position of a sequence, and the positions were then laid in a row."""
    if output is None or len(output) < 3 or not isinstance(prediction, Tensor) or prediction.dim() != 2:
        return False
    return output[-1] == prediction.shape[1] and math.prod(output[:-1]) == prediction.shape[0]


def detached(value: Any) -> Tensor | None:
    return value.detach() if isinstance(value, Tensor) and plain(value) else None


def same_for(
    original: Callable[..., Tensor], target: Any, args: Any, kwargs: Any
) -> Callable[[Tensor], Tensor]:
    """The loss as a function of the prediction alone."""
    named = [name for name in ("target", "targets") if name in kwargs]
    settings = {k: v for k, v in kwargs.items() if k not in (*named, "input")}
    rest = args[2:] if not named else ()
    return lambda prediction: original(prediction, target, *rest, **settings)
