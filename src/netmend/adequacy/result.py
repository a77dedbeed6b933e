"""Adequacy: what was measured of a test set. Plain frozen data; words and files are made in report/."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from netmend.shown import Shown

COLUMNS = ("method", "rank", "index", "score", "predicted")  # of suggestions in a file
LESS, ALIKE, MORE, UNKNOWN = "less", "alike", "more", "unknown"


@dataclass(frozen=True)
class Coverage:
    """How much a set of inputs reaches, compared with as many training inputs."""

    name: str  # NLC, LSC, DSC, MDSC
    value: float = float("nan")  # of the whole test set, as published
    everything: float = float("nan")  # of all training inputs that were looked at
    size: int = 0  # inputs on each side of the comparison
    relative: float = float("nan")  # test inputs against the mean of as many training inputs: 1 is alike
    deviation: float = float("nan")  # by which `relative` of the same kind of data would vary
    samples: tuple[float, ...] = ()  # the same for each sample of training inputs
    parts: tuple[tuple[str, float], ...] = ()  # NLC: `relative` layer by layer, in the order of the model
    standing: str = UNKNOWN  # less, alike, more, unknown
    reason: str = ""  # why it is unknown


@dataclass(frozen=True)
class Surprise:
    """How the test inputs compare with training inputs that were left out, one by one."""

    name: str  # LSA, DSA, MDSA
    coverage: Coverage
    beyond: float = float("nan")  # share of test inputs more surprising than 95 % of training inputs
    middle: float = float("nan")  # share of training inputs less surprising than the median test input
    reason: str = ""


@dataclass(frozen=True)
class ClassRow:
    """One class: by label where the set has labels, else by the model's answer."""

    name: int
    train: int
    test: int
    right: float | None = None  # share of its test inputs that are correct
    reached: float | None = None  # surprise coverage inside the class
    unsure: float | None = None  # mean DeepGini of its test inputs


@dataclass(frozen=True)
class Picked:
    index: int  # in the set as the user has it
    score: float | None  # None where only the order counts
    predicted: int | None


@dataclass(frozen=True)
class Suggestion:
    """Inputs that are worth a label next, the most valuable first."""

    method: str
    inputs: tuple[Picked, ...]


@dataclass(frozen=True)
class SetFact:
    """One of the sets: how many of its inputs were looked at, and how well the model answers them."""

    name: str
    looked: int
    total: int | None
    right: float | None = None
    not_finite: int = 0  # inputs for which the model's numbers are NaN or infinite


@dataclass(frozen=True)
class Adequacy(Shown):
    """A test set, measured on what one trained model does with it."""

    task: str
    sets: tuple[SetFact, ...]  # train, test and, if given, pool
    trace_of: str
    layers: int
    spread: Coverage  # NLC
    surprises: tuple[Surprise, ...]
    classes: tuple[ClassRow, ...]
    source: str  # where suggestions come from: pool or test
    suggestions: tuple[Suggestion, ...]
    found: tuple[tuple[str, float], ...]  # APFD of each order on the labelled test set, best first
    mistakes: int | None = None  # of the test set; None without labels
    notes: tuple[str, ...] = ()

    @property
    def coverages(self) -> tuple[Coverage, ...]:
        return (self.spread, *(one.coverage for one in self.surprises))

    @property
    def missing(self) -> tuple[int, ...]:
        """Classes of the training data that the test set does not hold."""
        return tuple(row.name for row in self.classes if row.train and not row.test)

    def save(self, file: str | Path) -> None:
        """Write the suggestions as CSV: method, rank, index, score, predicted."""
        Path(file).write_text(suggestions_csv(self), encoding="utf-8")


def suggestions_csv(found: Adequacy) -> str:
    """A line for each method and rank; empty where a method only orders, or the model has no classes."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in found.suggestions:
        for rank, pick in enumerate(one.inputs, 1):
            score = "" if pick.score is None else f"{pick.score:.6g}"
            predicted = "" if pick.predicted is None else pick.predicted
            writer.writerow((one.method, rank, pick.index, score, predicted))
    return stream.getvalue()
