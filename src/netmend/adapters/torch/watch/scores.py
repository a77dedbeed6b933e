"""Scores: accuracy or R² and class counts from what the loss was given; what targets add to the best constant prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from netmend.library.losses import OF_CLASS_INDEX, OF_YES_NO
from netmend.observe.targets import REAL, Targets
from netmend.vocabulary import LossFact

_MOST_CLASSES = 100_000
_MOST_COLUMNS = 4096
_SAMPLED_COLUMNS = 64  # of wide targets, for medians
_SAMPLED = 1024  # numbers per batch
_EXAMINED = 4_000_000  # elements of a prediction; of larger ones the first rows are scored
_MOST_COMPARED = 1_024  # classes that are counted on a device, by comparing with each
_ENOUGH = 10  # samples of a class, for its recall to mean something


@dataclass(frozen=True)
class Score:
    """How one batch was met: accuracy for classes and yes/no targets, R² for real ones; None where neither means anything.

    `classes` holds, per class, how often it was predicted, how often it was true, and how often both.
    """

    metric: Tensor | None = None
    classes: Tensor | None = None


@torch.no_grad()
def score_of(fact: LossFact, prediction: Tensor, target: Tensor, targets: Targets) -> Score:
    if (
        prediction.numel() > _EXAMINED
        and prediction.dim()
        and target.dim()
        and len(prediction) == len(target)
    ):
        rows = max(1, _EXAMINED * len(prediction) // prediction.numel())
        prediction, target = prediction[:rows], target[:rows]
    if fact.criterion in OF_CLASS_INDEX and prediction.dim() >= 1:
        return _of_classes(fact, prediction, target)
    if fact.criterion in OF_YES_NO and prediction.shape == target.shape:
        cut = 0.5 if fact.criterion == "binary_cross_entropy" else 0.0
        chosen, truth = prediction > cut, target > 0.5
        one_column = target.dim() == 0 or target.numel() == len(target)
        counts = _counted(chosen.long(), truth.long(), None, 2) if one_column else None
        return Score((chosen == truth).float().mean(), counts)
    if fact.criterion in REAL and prediction.shape == target.shape:
        variances = targets.variances
        if variances is not None and variances.mean() > 0:
            unexplained: Tensor = (prediction.float() - target.float()).square().mean() / float(
                variances.mean()
            )
            return Score(1.0 - unexplained)
    return Score()


def _of_classes(fact: LossFact, prediction: Tensor, target: Tensor) -> Score:
    axis = 0 if prediction.dim() == 1 else 1
    chosen = prediction.argmax(dim=axis)
    truth = (
        target.argmax(dim=axis) if target.is_floating_point() and target.shape == prediction.shape else target
    )
    if chosen.shape != truth.shape:
        return Score()
    counted = truth != fact.settings.get("ignore_index", -100)
    right = (chosen == truth) & counted
    share: Tensor = right.float().sum() / counted.float().sum().clamp(min=1)
    return Score(share, _counted(chosen, truth, counted, prediction.shape[axis]))


def _counted(chosen: Tensor, truth: Tensor, counted: Tensor | None, classes: int) -> Tensor | None:
    """Predicted, true and rightly predicted samples per class, without making the host wait for a device."""
    chosen, truth = chosen.flatten(), truth.flatten()
    if chosen.is_cpu:
        if classes > _MOST_CLASSES:
            return None
        if counted is not None:
            there = counted.flatten() & (truth >= 0) & (truth < classes)
            chosen, truth = chosen[there], truth[there].long()
        parts = (chosen, truth, truth[chosen == truth])
        return torch.stack([torch.bincount(part, minlength=classes) for part in parts])
    if classes > _MOST_COMPARED or classes * chosen.numel() > _EXAMINED:
        return None
    names = torch.arange(classes, device=chosen.device)[:, None]
    there = torch.ones_like(chosen, dtype=torch.bool) if counted is None else counted.flatten()
    of_chosen, of_truth = (names == chosen) & there, (names == truth) & there
    return torch.stack([of_chosen.sum(dim=1), of_truth.sum(dim=1), (of_chosen & of_truth).sum(dim=1)])


@torch.no_grad()
def class_figures(counts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Entropy of the predicted and of the true classes, in nats; the lowest recall of a class with enough samples (or NaN)."""
    amounts = counts.double() if counts.device.type != "mps" else counts.float()
    shares = amounts[:2] / amounts[:2].sum(dim=1, keepdim=True)
    entropies = -torch.xlogy(shares, shares).sum(dim=1)
    recalls = torch.where(amounts[1] >= _ENOUGH, amounts[2] / amounts[1], torch.inf)
    worst = recalls.min()
    return entropies[0], entropies[1], torch.where(worst.isinf(), torch.nan, worst)


@torch.no_grad()
def show_targets(targets: Targets, fact: LossFact, prediction: Tensor, target: Tensor) -> None:
    """Add one batch of targets to the running statistics."""
    if not target.numel():
        return
    if not target.is_floating_point():
        flat = target.flatten()
        ignored = fact.settings.get("ignore_index", -100)
        if fact.criterion in OF_CLASS_INDEX:
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
