"""Boosted decision trees as plain arrays, and what they say of one run. Made by benchmarks/learned/train.py.

Every tree speaks for or against one class; the sums over its trees, turned into shares, say how the recorded runs that look like this one
are spread over the classes. The nodes of all trees stand one after another; the left child of a node follows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.vocabulary.table import FloatArray, IntArray

LEAF = -1


@dataclass(frozen=True, eq=False)
class Forest:
    features: tuple[str, ...]
    classes: tuple[str, ...]
    base: FloatArray  # score of each class before any tree has spoken
    starts: IntArray  # first node of each tree, and the number of nodes
    speaks_of: IntArray  # index of the class of each tree
    feature: npt.NDArray[np.int16]  # by which a node divides; LEAF for leaves
    threshold: FloatArray  # left when the value is not above it
    right: IntArray  # the right child; the left one is the next node
    missing_left: npt.NDArray[np.bool_]  # where a missing value goes
    value: FloatArray  # what a leaf adds to the score; of other nodes what the leaves below add on average

    @property
    def trees(self) -> int:
        return len(self.starts) - 1

    def shares(self, row: FloatArray) -> FloatArray:
        """One number for each class; they sum to one."""
        scores = self.scores(row)
        grown = np.exp(scores - scores.max())
        return np.asarray(grown / grown.sum())

    def scores(self, row: FloatArray) -> FloatArray:
        said = np.bincount(self.speaks_of, self.value[self._leaves(row)], minlength=len(self.classes))
        return np.asarray(self.base + said)

    def _leaves(self, row: FloatArray) -> IntArray:
        """The leaf of every tree; all trees go down at once."""
        nodes: IntArray = np.array(self.starts[:-1])
        while (open_ones := self.feature[nodes] != LEAF).any():
            here = nodes[open_ones]
            shown = row[self.feature[here]]
            with np.errstate(invalid="ignore"):
                below = np.where(np.isnan(shown), self.missing_left[here], shown <= self.threshold[here])
            nodes[open_ones] = np.where(below, here + 1, self.right[here])
        return nodes

    def contributions(self, row: FloatArray, name: str) -> dict[str, float]:
        """How much every feature that was asked for moved the score of one class, from the roots to the leaves.

        They add up to the class's score minus the one that it has on average over the runs that the forest was made from.
        """
        moved: dict[str, float] = {}
        for tree in np.flatnonzero(self.speaks_of == self.classes.index(name)).tolist():
            before: int | None = None
            for node in self._path(row, tree):
                if before is not None:
                    asked = self.features[self.feature[before]]
                    moved[asked] = moved.get(asked, 0.0) + float(self.value[node] - self.value[before])
                before = node
        return moved

    def _path(self, row: FloatArray, tree: int) -> Iterator[int]:
        """Nodes from the root to the leaf."""
        node = int(self.starts[tree])
        yield node
        while self.feature[node] != LEAF:
            shown = float(row[self.feature[node]])
            left = self.missing_left[node] if math.isnan(shown) else shown <= self.threshold[node]
            node = node + 1 if left else int(self.right[node])
            yield node
