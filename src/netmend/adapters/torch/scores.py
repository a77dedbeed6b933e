"""Scores: accuracy or R² from what the loss was given, and what its targets add to the best constant predictor."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from netmend.observe.targets import CLASS_INDEX, PROBABILITY, REAL, Targets
from netmend.vocabulary import LossFact

_MOST_CLASSES = 100_000
_MOST_COLUMNS = 4096
_SAMPLED_COLUMNS = 64  # of wide targets, for medians
_SAMPLED = 1024  # numbers per batch
_EXAMINED = 4_000_000  # elements of a prediction; of larger ones the first rows are scored


@torch.no_grad()
def metric_of(fact: LossFact, prediction: Tensor, target: Tensor, targets: Targets) -> Tensor | None:
    """Accuracy for classes and yes/no targets, R² for real ones; None where neither means anything."""
    if (
        prediction.numel() > _EXAMINED
        and prediction.dim()
        and target.dim()
        and len(prediction) == len(target)
    ):
        rows = max(1, _EXAMINED * len(prediction) // prediction.numel())
        prediction, target = prediction[:rows], target[:rows]
    if fact.criterion in CLASS_INDEX and prediction.dim() >= 1:
        return _accuracy(fact, prediction, target)
    if fact.criterion in PROBABILITY and prediction.shape == target.shape:
        cut = 0.5 if fact.criterion == "binary_cross_entropy" else 0.0
        return ((prediction > cut) == (target > 0.5)).float().mean()
    if fact.criterion in REAL and prediction.shape == target.shape:
        variances = targets.variances
        if variances is not None and variances.mean() > 0:
            unexplained: Tensor = (prediction.float() - target.float()).square().mean() / float(
                variances.mean()
            )
            return 1.0 - unexplained
    return None


def _accuracy(fact: LossFact, prediction: Tensor, target: Tensor) -> Tensor | None:
    axis = 0 if prediction.dim() == 1 else 1
    chosen = prediction.argmax(dim=axis)
    truth = (
        target.argmax(dim=axis) if target.is_floating_point() and target.shape == prediction.shape else target
    )
    if chosen.shape != truth.shape:
        return None
    counted = truth != fact.settings.get("ignore_index", -100)
    share: Tensor = ((chosen == truth) & counted).float().sum() / counted.float().sum().clamp(min=1)
    return share


@torch.no_grad()
def show_targets(targets: Targets, fact: LossFact, prediction: Tensor, target: Tensor) -> None:
    """Add one batch of targets to the running statistics."""
    if not target.numel():
        return
    if not target.is_floating_point():
        flat = target.flatten()
        ignored = fact.settings.get("ignore_index", -100)
        if fact.criterion in CLASS_INDEX:
            flat = flat[(flat != ignored) & (flat >= 0)]
            if flat.numel() and int(flat.max()) < _MOST_CLASSES:
                targets.add_classes(torch.bincount(flat).cpu().numpy().astype(np.int64))
            return
    values = target.float()
    rows = values.reshape(len(values), -1) if values.dim() else values.reshape(1, 1)
    if rows.shape[1] > _MOST_COLUMNS:
        rows = rows[:, :_MOST_COLUMNS]
    if (
        rows.device.type != "mps"
    ):  # squares of targets far from zero need all digits; that device has no doubles
        rows = rows.double()
    totals = torch.stack([rows.sum(dim=0), rows.square().sum(dim=0)]).cpu().double().numpy()
    few = rows[:, :: -(-rows.shape[1] // _SAMPLED_COLUMNS)]
    sample = few[: max(1, _SAMPLED // few.shape[1])].cpu().double().numpy()
    targets.add_values(rows.shape[0], totals[0], totals[1], sample)
