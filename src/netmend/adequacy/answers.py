"""What a model's outputs mean: probabilities of classes, where it decides between classes, told by the labels and the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netmend.adequacy.collected import Collected, Flags, Floats, Integers, finite_rows
from netmend.errors import UsageError

CLASSES = "classes"  # one output per class
BINARY = "binary"  # one output, for the second of two classes
NUMBERS = "numbers"  # anything else: no class per input
TASKS = (CLASSES, BINARY, NUMBERS)

PROBABILITIES, LOGARITHMS, LOGITS = "probabilities", "logarithms", "logits"
_TOLERANCE = 1e-3  # of sums that are one, in half precision too


@dataclass(frozen=True)
class Meaning:
    """How to read the outputs of one model; decided on its training data and used for all sets."""

    task: str
    form: str = LOGITS
    assumed: bool = False  # no labels were there to tell


@dataclass(frozen=True)
class Answers:
    """The model's answers to one set of inputs."""

    predicted: Integers  # class of each input; all 0 where there are none
    probabilities: Floats | None = None
    labels: Integers | None = None  # below 0: this input has none

    @property
    def wrong(self) -> Flags | None:
        """Which answers are wrong; None where labels are missing."""
        if self.labels is None or self.probabilities is None or (self.labels < 0).any():
            return None
        return np.asarray(self.labels != self.predicted, dtype=np.bool_)

    @property
    def right(self) -> float | None:
        return None if self.wrong is None or not len(self.wrong) else float(1.0 - self.wrong.mean())


def meaning_of(train: Collected, task: str | None = None) -> Meaning:
    """Whether the model decides between classes, and whether its outputs are probabilities, their logarithms or logits."""
    outputs, labels = train.outputs, train.labels
    if task is not None and task not in TASKS:
        raise UsageError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
    if outputs is None:
        if task in (CLASSES, BINARY):
            raise UsageError(
                f"task={task!r} needs one row of outputs for each input, and the model gives another shape; leave task out"
            )
        return Meaning(NUMBERS)
    found = task or _task(outputs, labels)
    if found == BINARY and outputs.shape[1] != 1:
        raise UsageError(f"task='binary' needs one output per input, the model has {outputs.shape[1]}")
    return Meaning(found, _form(outputs.astype(np.float64), found), labels is None and task is None)


def answers_of(collected: Collected, meaning: Meaning) -> Answers:
    """The answers in the common form."""
    if meaning.task == NUMBERS or collected.outputs is None:
        return Answers(np.zeros(len(collected), dtype=np.int64))
    outputs = collected.outputs.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        probabilities = (
            _binary(outputs, meaning.form) if meaning.task == BINARY else _many(outputs, meaning.form)
        )
    # NaN is larger than everything to argmax: an input without an answer belongs to no class.
    predicted = np.where(finite_rows(outputs), np.argmax(probabilities, axis=1), -1)
    labels = _class_labels(collected.labels, probabilities.shape[1])
    return Answers(predicted.astype(np.int64), probabilities, labels)


def _task(outputs: npt.NDArray[Any], labels: npt.NDArray[Any] | None) -> str:
    width = outputs.shape[1]
    if labels is None:
        return CLASSES if width > 1 else BINARY if _form(outputs, BINARY) == PROBABILITIES else NUMBERS
    flat = labels.reshape(len(labels), -1)
    whole = bool(np.all(flat == np.round(flat)))
    if width == 1:
        return BINARY if flat.shape[1] == 1 and whole and set(np.unique(flat)) <= {0, 1} else NUMBERS
    if flat.shape[1] == 1:
        return CLASSES if whole else NUMBERS
    # One column per class: exactly one of them, or shares that sum to one.
    shares = (
        flat.shape[1] == width and flat.min() >= 0 and np.allclose(flat.sum(axis=1), 1.0, atol=_TOLERANCE)
    )
    return CLASSES if shares else NUMBERS


def _form(outputs: npt.NDArray[Any], task: str) -> str:
    rows = outputs[np.isfinite(outputs).all(axis=1)]
    if not len(rows) or task == NUMBERS:
        return LOGITS
    if rows.min() >= 0 and rows.max() <= 1 + _TOLERANCE and (task == BINARY or _sums_to_one(rows)):
        return PROBABILITIES
    return (
        LOGARITHMS if task == CLASSES and rows.max() <= _TOLERANCE and _sums_to_one(np.exp(rows)) else LOGITS
    )


def _sums_to_one(rows: npt.NDArray[Any]) -> bool:
    return bool(np.allclose(rows.sum(axis=1), 1.0, atol=_TOLERANCE))


def _binary(outputs: Floats, form: str) -> Floats:
    second = outputs[:, 0] if form == PROBABILITIES else 1.0 / (1.0 + np.exp(-outputs[:, 0]))
    return np.stack([1.0 - second, second], axis=1)


def _many(outputs: Floats, form: str) -> Floats:
    if form == PROBABILITIES:
        return outputs
    if form == LOGARITHMS:
        return np.exp(outputs)
    heights = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return np.asarray(heights / heights.sum(axis=1, keepdims=True), dtype=np.float64)


def _class_labels(labels: npt.NDArray[Any] | None, classes: int) -> Integers | None:
    if labels is None:
        return None
    flat = labels.reshape(len(labels), -1)
    found = flat[:, 0] if flat.shape[1] == 1 else np.argmax(flat, axis=1)
    if len(found) and found.max() >= classes:
        raise UsageError(
            f"a label is {found.max():g}, but the model has outputs for {classes} classes (0 to {classes - 1}); "
            "give labels that count from 0, or task='numbers' if they are no classes"
        )
    return found.astype(np.int64)
