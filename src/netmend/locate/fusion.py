"""From features to one score, by trees that were learned from other projects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from netmend.errors import NetmendError
from netmend.locate.features import Features
from netmend.locate.postings import Floats

# Trained trees, evaluated without the library that trained them.
#
# The file is JSON: {"format": 1, "features": [names], "fixed": weight of the fixed sum that is added, "trees": [{"feature",
# "threshold", "left", "right", "value"}]}. A node with value <= threshold goes left; a child of -1 - k is leaf k.

FORMAT = 1
_JUDGED = 1_000  # files that the trees look at; in larger repositories the fixed sum chooses them


@dataclass(frozen=True)
class Tree:
    feature: npt.NDArray[np.int32]
    threshold: Floats
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    value: Floats

    def values(self, matrix: Floats) -> Floats:
        """The leaf's value for each row."""
        if not len(self.feature):
            return np.full(len(matrix), self.value[0])
        nodes = np.zeros(len(matrix), dtype=np.int32)
        leaves = np.zeros(len(matrix), dtype=np.int32)
        rows = np.arange(len(matrix))
        while len(rows):
            at = nodes[rows]
            left = matrix[rows, self.feature[at]] <= self.threshold[at]
            nodes[rows] = np.where(left, self.left[at], self.right[at])
            ended = nodes[rows] < 0
            leaves[rows[ended]] = -1 - nodes[rows[ended]]
            rows = rows[~ended]
        return self.value[leaves]


@dataclass(frozen=True)
class TreeFusion:
    features: tuple[str, ...]
    trees: tuple[Tree, ...]
    fixed: float = 0.0  # weight of the fixed sum beside the trees
    name: str = "trained trees"

    def rank(self, features: Features) -> Floats:
        fixed = features.column("fixed")
        columns = np.array([features.names.index(name) for name in self.features], dtype=np.int64)
        judged = np.argsort(-fixed, kind="stable")[:_JUDGED]
        # Models are trained on 32 bits: a value just beside a threshold must fall on the same side here.
        matrix = features.matrix[np.ix_(judged, columns)].astype(np.float32).astype(float)
        found: Floats = self.fixed * fixed[judged] + sum(
            (tree.values(matrix) for tree in self.trees), np.zeros(len(judged))
        )
        # The others keep the order of the fixed sum, below all that were judged.
        scores = fixed - fixed.max(initial=0.0) - 1.0 + float(found.min(initial=0.0))
        scores[judged] = found
        return np.asarray(scores)


def read_trees(file: Path) -> TreeFusion:
    """The trees of a file; an error names what is wrong with it."""
    try:
        plain: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if plain["format"] != FORMAT:
            raise ValueError(f"format {plain['format']}, expected {FORMAT}")
        trees = tuple(
            Tree(
                np.array(tree["feature"], np.int32),
                np.array(tree["threshold"], float),
                np.array(tree["left"], np.int32),
                np.array(tree["right"], np.int32),
                np.array(tree["value"], float),
            )
            for tree in plain["trees"]
        )
        return TreeFusion(tuple(plain["features"]), trees, float(plain.get("fixed", 0.0)))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise NetmendError(
            f"The ranking model {file} cannot be read: {problem}. Install netmend again."
        ) from problem


# From the signals of all files to one order.

MODEL = Path(__file__).with_name("model.json")


class Fusion(Protocol):
    @property
    def name(self) -> str: ...

    def rank(self, features: Features) -> Floats:
        """A score for each file; the highest comes first."""
        ...


@dataclass(frozen=True)
class FixedFusion:
    """The weighted sum of fixed_fusion.py."""

    name: str = "fixed weights"

    def rank(self, features: Features) -> Floats:
        return features.column("fixed")


@cache
def default_fusion() -> Fusion:
    """The trained trees that come with the package, or fixed weights where there are none."""

    return read_trees(MODEL) if MODEL.is_file() else FixedFusion()
