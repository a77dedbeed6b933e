"""What is kept of a batch instead of its data: a hash for each sample, statistics of each feature, a histogram of the labels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

_ELEMENTS_HASHED = 256  # per sample, evenly spaced
_MOST_FEATURES = 1024
_MOST_LABELS = 1000
_MOST_ROWS = 128  # of token sequences


def hash_samples(inputs: Tensor) -> Tensor:
    """One 64-bit number per sample, equal for equal samples; computed where the data is."""
    rows = inputs.reshape(len(inputs), -1)
    stride = max(1, -(-rows.shape[1] // _ELEMENTS_HASHED))
    few = rows[:, ::stride]
    if few.is_floating_point():
        few = few.float().contiguous().view(torch.int32)
    elif few.is_complex():
        few = torch.view_as_real(few).reshape(len(few), -1).float().contiguous().view(torch.int32)
    return (few.to(torch.int64) * _weights(few.shape[1]).to(few.device)).sum(dim=1)


@lru_cache(maxsize=16)
def _weights(count: int) -> Tensor:
    """Fixed odd multipliers (a linear congruential sequence); no random numbers are drawn."""
    values, state = [], 0x9E3779B97F4A7C15
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((state | 1) - 2**63)
    return torch.tensor(values, dtype=torch.int64)


def describe_inputs(inputs: Tensor) -> tuple[str, Tensor | None]:
    """Which axis holds features, and their mean, standard deviation, minimum and maximum (4 × features)."""
    if not inputs.is_floating_point():
        return ("token", _describe_tokens(inputs)) if inputs.dim() == 2 else ("", None)
    if inputs.dim() == 2 and inputs.shape[1] <= _MOST_FEATURES:
        axis, values = "feature", inputs
    elif inputs.dim() >= 4 and inputs.shape[1] <= _MOST_FEATURES:
        axis, values = "channel", inputs.movedim(1, -1).reshape(-1, inputs.shape[1])
    elif inputs.dim() == 3 and inputs.shape[2] <= _MOST_FEATURES:
        axis, values = "feature", inputs.reshape(-1, inputs.shape[2])
    else:
        return "", None
    values = values.float()
    low, high = torch.aminmax(values, dim=0)
    return axis, torch.stack([values.mean(dim=0), values.std(dim=0, correction=0), low, high])


def _describe_tokens(inputs: Tensor) -> Tensor | None:
    """The most frequent token, its share, the share of rows that end in it, the number of different tokens (4 × 1)."""
    if (
        inputs.device.type != "cpu" or inputs.is_complex() or not inputs.numel()
    ):  # elsewhere it would make the host wait
        return None
    rows = inputs[:_MOST_ROWS]
    tokens, counts = torch.unique(rows, return_counts=True)
    most = int(counts.argmax())
    ending = (rows[:, -1] == tokens[most]).float().mean()
    figures = (tokens[most].float(), counts[most] / rows.numel(), ending, torch.tensor(float(len(tokens))))
    return torch.stack(figures).unsqueeze(1)


def summary_of(inputs: Tensor) -> Tensor:
    """Mean, standard deviation, minimum, maximum, number of non-finite values."""
    values = inputs.float()
    low, high = torch.aminmax(values)
    return torch.stack(
        [values.mean(), values.std(correction=0), low, high, (~torch.isfinite(values)).sum().float()]
    )


def _labels_of_many(rows: Tensor) -> dict[str, Any]:
    """Several numbers per sample, such as a one for its class. Their weighted sum, another for each class, tells sorted data."""
    first = {f"{label:g}": int((rows[:, 0] == label).sum()) for label in rows[:, 0].unique().tolist()}
    columns = torch.arange(1, rows.shape[1] + 1, dtype=torch.float32, device=rows.device)
    numbers = rows.float() @ columns
    changes = int((numbers[1:] != numbers[:-1]).sum())
    return {"labels": first, "label_changes": changes, **_spread(numbers)}


def _spread(values: Tensor) -> dict[str, Any]:
    return {"target_mean": float(values.mean()), "target_std": float(values.std(correction=0))}


def describe_targets(target: Tensor) -> dict[str, Any]:
    """Histogram and order of labels, or mean and spread of real targets."""
    if target.is_floating_point() and not bool((target == target.round()).all()):
        values = target.float()
        return _spread(values)
    if target.is_floating_point() and target.dim() > 1 and target[0].numel() > 1:
        return _labels_of_many(target.reshape(len(target), -1))
    flat = target.flatten() if target.dim() == 1 else target.reshape(len(target), -1)[:, 0]
    labels, counts = torch.unique(flat, return_counts=True)
    changes = int((flat[1:] != flat[:-1]).sum())
    if len(labels) > _MOST_LABELS:
        return {"label_changes": changes}
    named = {f"{label:g}": int(count) for label, count in zip(labels.tolist(), counts.tolist(), strict=True)}
    return {"labels": named, "label_changes": changes}
