"""Which answers of a model are right: by class, by threshold, or how far off; decided once, from what the original's loss compares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netmend.adapters.torch.subject.data import Data
from netmend.library.losses import OF_CLASS_INDEX

CLASSES, BINARY, POSITIONS, COLUMNS, VALUES = "classes", "yes or no", "positions", "columns", "values"
_BY_LOGIT = ("binary_cross_entropy_with_logits", "multilabel_soft_margin_loss", "soft_margin_loss")
_ABSOLUTE = ("l1_loss", "smooth_l1_loss", "huber_loss")


@dataclass(frozen=True)
class Task:
    """How answers are judged."""

    kind: str  # classes | yes or no | positions | columns | values
    axis: int = 1  # of the outputs, that holds classes
    threshold: float = 0.0  # above it the answer is yes
    absolute: bool = False  # errors as they are, not squared
    ignored: int = -100  # a label that does not count
    which: int = 0  # of the model's outputs

    @property
    def higher_is_better(self) -> bool:
        return self.kind in (CLASSES, BINARY)


def task_of(criterion: str, relation: str, which: int, output: Tensor, label: np.ndarray) -> Task:
    """The task behind outputs and labels; the loss decides where they could be read in several ways."""
    labels = torch.as_tensor(label)
    width, wanted = tuple(output.shape[1:]), tuple(labels.shape[1:])  # there may be more labels than outputs
    whole = not labels.is_floating_point()
    if criterion in OF_CLASS_INDEX or (whole and len(width) == len(wanted) + 1 and width[0] > 1):
        return _by_class(which, output, labels)
    one_column = math.prod(width) == 1
    values = labels.float()
    if not one_column and width == wanted and _is_one_hot(values):
        return Task(CLASSES, 1, which=which)
    low = float(values.min())
    if math.prod(wanted) == math.prod(width) and _is_yes_or_no(values, criterion):
        logits = criterion in _BY_LOGIT or relation == "sigmoid" or low < 0
        if not criterion:  # nothing was compared: probabilities lie between 0 and 1
            logits = logits or float(output.min()) < 0 or float(output.max()) > 1
        return Task(BINARY if one_column else COLUMNS, threshold=0.0 if logits else 0.5, which=which)
    return Task(VALUES, absolute=criterion in _ABSOLUTE, which=which)


def _is_yes_or_no(values: Tensor, criterion: str) -> bool:
    """Labels of two kinds; a loss of probabilities says so even where only one of them occurs."""
    found = set(torch.unique(values.flatten()[:100_000]).tolist())
    if criterion in (*_BY_LOGIT, "binary_cross_entropy"):
        return found <= {0.0, 1.0} or found <= {-1.0, 1.0}
    return found in ({0.0, 1.0}, {-1.0, 1.0})


def _by_class(which: int, output: Tensor, labels: Tensor) -> Task:
    width, wanted = tuple(output.shape[1:]), tuple(labels.shape[1:])
    if output.dim() == 2:
        return Task(CLASSES, 1, which=which)
    last = wanted == width[:-1] and wanted != width[1:]
    return Task(POSITIONS, output.dim() - 1 if last else 1, which=which)


def _is_one_hot(values: Tensor) -> bool:
    if values.dim() != 2 or values.shape[1] < 2:
        return False
    return bool(((values == 0) | (values == 1)).all()) and bool((values.sum(1) == 1).all())


@torch.no_grad()
def judged(task: Task, output: Tensor, label: np.ndarray) -> np.ndarray:
    """One number for each input: 1 for a right answer and 0 for a wrong one; for other tasks, how far off it is."""
    labels = torch.as_tensor(label)
    output = output.detach().cpu()
    rows = len(labels)
    finite = torch.isfinite(output.reshape(rows, -1).float()).all(dim=1)
    if task.kind == CLASSES:
        chosen = output.argmax(task.axis)
        truth = (
            labels.argmax(1) if labels.dim() == 2 and labels.shape == output.shape else labels.reshape(rows)
        )
        found = (chosen == truth.long()) & finite
        return np.asarray(found.numpy(), dtype=float)
    if task.kind == BINARY:
        said, truth = output.reshape(rows) > task.threshold, labels.reshape(rows) > _middle(labels)
        return np.asarray(((said == truth) & finite).numpy(), dtype=float)
    if task.kind == POSITIONS:
        wrong = _wrong_positions(task, output, labels)
    elif task.kind == COLUMNS:
        said, truth = output.reshape(rows, -1) > task.threshold, labels.reshape(rows, -1) > _middle(labels)
        wrong = (said != truth).double().mean(1)
    else:
        off = output.reshape(rows, -1).double() - labels.reshape(rows, -1).double()
        wrong = (off.abs() if task.absolute else off.square()).mean(1)
    return np.asarray(torch.where(finite, wrong, torch.inf).numpy())


def _middle(labels: Tensor) -> float:
    return 0.0 if labels.is_floating_point() and float(labels.min()) < 0 else 0.5


def _wrong_positions(task: Task, output: Tensor, labels: Tensor) -> Tensor:
    chosen = output.argmax(task.axis).reshape(len(labels), -1)
    truth = labels.reshape(len(labels), -1)
    counted = truth != task.ignored
    wrong = ((chosen != truth) & counted).double().sum(1)
    return wrong / counted.double().sum(1).clamp(min=1)


def class_labels(task: Task, data: Data) -> np.ndarray | None:
    """The class of each input, where inputs have one."""
    labels = data.labels
    if labels is None or task.kind not in (CLASSES, BINARY):
        return None
    if labels.ndim == 2 and labels.shape[1] > 1:
        return np.asarray(labels.argmax(1))
    return np.asarray(labels.reshape(len(labels)))


def constant_score(task: Task, data: Data) -> float | None:
    """Of the best answer that is the same for all inputs; None where there is no single one."""
    labels = data.labels
    if labels is None:
        return None
    classes = class_labels(task, data)
    if classes is not None:
        return float(np.unique(classes, return_counts=True)[1].max() / len(classes))
    if task.kind != VALUES:
        return None
    values = labels.reshape(len(labels), -1).astype(float)
    if task.absolute:
        return float(np.abs(values - np.median(values, axis=0)).mean())
    return float(np.square(values - values.mean(axis=0)).mean())


def as_data(task: Task) -> dict[str, Any]:
    return vars(task)
