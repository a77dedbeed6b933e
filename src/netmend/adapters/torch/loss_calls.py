"""One call of a loss function: what is remembered of it, without its graph."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from netmend.adapters.torch.eligible import plain

CRITERIA = [
    "cross_entropy",
    "nll_loss",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "kl_div",
    "poisson_nll_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "cosine_embedding_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "ctc_loss",
]


@dataclass
class LossCall:
    """One call of a loss function; holds no graph."""

    name: str
    criterion: str
    result: weakref.ref[Tensor]
    prediction: Tensor | None
    target: Tensor | None
    scalar: Tensor  # detached


def flattened(output: tuple[int, ...] | None, prediction: Any) -> bool:
    """Whether the model gave classes for every position of a sequence, and the positions were then laid in a row."""
    if output is None or len(output) < 3 or not isinstance(prediction, Tensor) or prediction.dim() != 2:
        return False
    return output[-1] == prediction.shape[1] and math.prod(output[:-1]) == prediction.shape[0]


def detached(value: Any) -> Tensor | None:
    return value.detach() if isinstance(value, Tensor) and plain(value) else None
