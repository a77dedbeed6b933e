"""A forest of decision trees as plain arrays, and what it says of one run. Made by benchmarks/learned/train.py.

The nodes of all trees stand one after another, each tree in preorder: the left child follows its node, and whatever lies below a node is one
stretch of nodes. That makes the share of a class below any node a difference of two running sums, which the explanation uses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from netmend.vocabulary.table import FloatArray, IntArray

LEAF = -1


@dataclass(frozen=True, eq=False)
class Forest:
    """`classes[k]` has the weight `weights[j]` in a leaf wherever `members[j] == k`, j in offsets[leaf] … offsets[leaf + 1]."""

    features: tuple[str, ...]
    classes: tuple[str, ...]
    starts: IntArray  # first node of each tree, and the number of nodes
    feature: npt.NDArray[np.int16]  # by which a node divides; LEAF for leaves
    threshold: npt.NDArray[np.float32]  # left when the value is not above it
    right: IntArray  # the right child; the left one is the next node
    missing_left: npt.NDArray[np.bool_]  # where a missing value goes
    offsets: IntArray
    members: IntArray
    weights: FloatArray

    @property
    def trees(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def leaf(self) -> IntArray:
        """Number of leaves before each node; for a leaf its own number."""
        is_leaf = self.feature == LEAF
        return np.asarray(np.cumsum(is_leaf) - is_leaf, dtype=np.int64)

    @cached_property
    def _shares(self) -> FloatArray:
        """Class shares of every leaf, one row each."""
        table = np.zeros((len(self.offsets) - 1, len(self.classes)))
        leaves = np.repeat(np.arange(len(table)), np.diff(self.offsets))
        np.add.at(table, (leaves, self.members), self.weights)
        return np.asarray(table / table.sum(axis=1, keepdims=True))

    def shares(self, row: FloatArray) -> FloatArray:
        """The mean over all trees of the class shares in the leaf that a run falls into."""
        leaves = self.leaf[self._leaves(row)]
        return np.asarray(self._shares[leaves].mean(axis=0))

    def _leaves(self, row: FloatArray) -> IntArray:
        """The leaf of every tree; all trees go down at once."""
        values = row.astype(np.float32)
        nodes: IntArray = np.array(self.starts[:-1])
        while (open_ones := self.feature[nodes] != LEAF).any():
            here = nodes[open_ones]
            nodes[open_ones] = np.where(self._goes_left(values, here), here + 1, self.right[here])
        return nodes

    def _goes_left(self, values: npt.NDArray[np.float32], nodes: IntArray) -> npt.NDArray[np.bool_]:
        shown = values[self.feature[nodes]]
        with np.errstate(invalid="ignore"):
            below = shown <= self.threshold[nodes]
        return np.where(np.isnan(shown), self.missing_left[nodes], below)

    def contributions(self, row: FloatArray, name: str) -> dict[str, float]:
        """How much every feature that was asked for moved the share of one class, from the roots to the leaves.

        They add up to the class's share minus the one it has among all runs that the forest was made from.
        """
        wanted = self.classes.index(name)
        own = np.where(self.members == wanted, self.weights, 0.0)
        sums = np.concatenate([[0.0], np.cumsum(own)])
        totals = np.concatenate([[0.0], np.cumsum(self.weights)])
        values = row.astype(np.float32)
        moved = np.zeros(len(self.features))
        for tree in range(self.trees):
            before: float | None = None
            asked = LEAF
            for node, end in self._path(values, tree):
                first, last = self.offsets[self.leaf[node]], self.offsets[self._leaves_before(end)]
                share = (sums[last] - sums[first]) / (totals[last] - totals[first])
                if before is not None:
                    moved[asked] += share - before
                before, asked = float(share), int(self.feature[node])
        return {
            name: float(value / self.trees) for name, value in zip(self.features, moved, strict=True) if value
        }

    def _leaves_before(self, node: int) -> int:
        return int(self.leaf[node]) if node < len(self.leaf) else len(self.offsets) - 1

    def _path(self, values: npt.NDArray[np.float32], tree: int) -> Iterator[tuple[int, int]]:
        """Nodes from the root to the leaf, each with the end of what lies below it."""
        node, end = int(self.starts[tree]), int(self.starts[tree + 1])
        yield node, end
        while self.feature[node] != LEAF:
            right = int(self.right[node])
            shown = float(values[self.feature[node]])
            if self.missing_left[node] if math.isnan(shown) else shown <= self.threshold[node]:
                node, end = node + 1, right
            else:
                node = right
            yield node, end
