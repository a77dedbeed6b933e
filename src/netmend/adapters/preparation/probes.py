"""How well simple models say the class from a part of the data: out of fold, bounded, without random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

_FOLDS = 5
_BUCKETS = 2048  # of hashed words and pairs of words
_RIDGE = 1.0


@dataclass(frozen=True)
class Answers:
    """Of which samples the class was said rightly, by models that had not seen them."""

    right: Any  # one truth value for each sample
    balanced: float  # mean over the classes


def _judged(said: Any, classes: Any) -> Answers:
    right = said == classes
    return Answers(right, float(np.mean([right[classes == name].mean() for name in np.unique(classes)])))


def _folds(classes: Any) -> Any:
    """A fold for each sample, the classes spread evenly; the same samples always get the same."""
    order = np.argsort(classes, kind="stable")
    turn = np.empty(len(classes), dtype=int)
    turn[order] = np.arange(len(classes)) * 7919 % len(classes) % _FOLDS
    return turn


def lift(one: Answers, other: Answers) -> float:
    """How certainly the first is better, in standard deviations: samples that only one of them got right."""
    only, lost = int((one.right & ~other.right).sum()), int((other.right & ~one.right).sum())
    return float((only - lost) / max(1.0, (only + lost) ** 0.5))


class Words:
    """Texts as hashed words and pairs of neighbours, each with its place, so that a cut can be tried without reading again."""

    def __init__(self, texts: Iterable[Sequence[Any]]) -> None:
        known: dict[Any, int] = {}
        rows: list[int] = []
        places: list[int] = []
        codes: list[int] = []
        row = -1
        for row, words in enumerate(texts):
            before = 0
            for place, word in enumerate(words):
                code = known.get(word)
                if code is None:
                    code = known[word] = crc32(str(word).encode())
                rows += (row, row)
                places += (place, place)
                codes += (code % _BUCKETS, (code * 31 + before) % _BUCKETS)
                before = code
            self.size = row + 1
        self._rows, self._places, self._codes = np.array(rows), np.array(places), np.array(codes)

    def lengths(self) -> Any:
        found = np.zeros(self.size, dtype=int)
        np.maximum.at(found, self._rows, self._places + 1)
        return found

    def say(self, classes: Any, first: Any = None, last: Any = None) -> Answers:
        """Naive Bayes on the words from place `first` up to `last`, each a number or one for each text."""
        kept = np.ones(len(self._rows), dtype=bool)
        if first is not None:
            kept &= self._places >= np.broadcast_to(first, self.size)[self._rows]
        if last is not None:
            kept &= self._places < np.broadcast_to(last, self.size)[self._rows]
        flat = self._rows[kept] * _BUCKETS + self._codes[kept]
        counts = np.bincount(flat, minlength=self.size * _BUCKETS).reshape(self.size, _BUCKETS)
        return _bayes(np.minimum(counts, 3).astype(np.float32), classes)


def _bayes(counts: Any, classes: Any) -> Answers:
    names, numbers = np.unique(classes, return_inverse=True)
    folds = _folds(numbers)
    member = np.eye(len(names), dtype=np.float32)[numbers]
    said = np.zeros(len(numbers), dtype=int)
    for fold in range(_FOLDS):
        held = folds == fold
        sums = member[~held].T @ counts[~held] + 0.3
        logs = np.log(sums / sums.sum(1, keepdims=True))
        prior = np.log(member[~held].mean(0) + 1e-9)
        said[held] = (counts[held] @ logs.T + prior).argmax(1)
    return _judged(said, numbers)


def say_by_numbers(features: Any, classes: Any) -> Answers:
    """Ridge regression to the classes on standardised features."""
    names, numbers = np.unique(classes, return_inverse=True)
    folds = _folds(numbers)
    goal = np.eye(len(names))[numbers]
    features = np.nan_to_num(np.asarray(features, dtype=np.float64), posinf=0.0, neginf=0.0)
    said = np.zeros(len(numbers), dtype=int)
    for fold in range(_FOLDS):
        held = folds == fold
        mean, spread = features[~held].mean(0), features[~held].std(0)
        scaled = np.clip((features - mean) / np.where(spread > 1e-9, spread, 1.0), -5, 5)
        scaled = np.hstack([scaled, np.ones((len(scaled), 1))])
        known = scaled[~held]
        square = known.T @ known + _RIDGE * np.eye(known.shape[1]) * len(known) ** 0.5
        said[held] = (scaled[held] @ np.linalg.solve(square, known.T @ goal[~held])).argmax(1)
    return _judged(said, numbers)
