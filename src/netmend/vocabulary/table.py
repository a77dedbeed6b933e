"""Table: rows of numbers over steps, and the kinds of tables a trace can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Columns by kind of table. The component that a table belongs to stands beside the kind. Missing values are NaN.
# Columns are only ever added at the end, so that older traces stay readable.
COLUMNS: dict[str, tuple[str, ...]] = {
    # per observed step; component: the optimiser that stepped ("" for hand-written updates); seconds since the start;
    # level: 1 loss and protocol only, 2 all statistics
    "step": ("loss", "backwards", "seconds", "gradient_norm", "level"),
    # whenever the rate of a parameter group changes; component: "optimizer[0]"
    "rate": ("rate",),
    # component: the loss
    # metric: accuracy or R², see TaskFact; entropies (in nats) of the predicted and of the true classes, and the lowest
    # share of a class (of at least 10 samples) that was predicted right: for classes and yes/no targets
    "progress": ("loss", "constant_loss", "metric", "predicted_entropy", "label_entropy", "worst_recall"),
    # one row per evaluation pass; component: the loss, or the model when no loss was computed
    "evaluation": (
        "loss",
        "constant_loss",
        "metric",
        "samples",
        "batches",
        "training_mode",
        "grad_enabled",
        "predicted_entropy",
        "label_entropy",
        "worst_recall",
    ),
    # component: module or functional activation
    "activation": (
        "mean",
        "std",
        "rms",
        "minimum",
        "maximum",
        "zero_share",
        "nonfinite",
        "silent_share",
        "saturated_share",
        "sample_spread",
    ),
    # component: parameter
    "gradient": ("mean", "rms", "minimum", "maximum", "zero_share", "nonfinite"),
    "weight": ("mean", "rms", "minimum", "maximum", "zero_share", "nonfinite", "drift"),
    "update": ("rms", "ratio", "maximum", "unchanged_share"),
    # component: the optimiser
    "clip": ("norm", "limit"),
    "scale": ("scale",),  # of a GradScaler
    "memory": ("resident_mb", "device_mb"),
    # component: the loss; graphs of more than 3 steps ago that were marked, how many of their objectives are still alive, and
    # of how many an operation deep inside is (kept by state that is carried on, or by the objective)
    "graphs": ("marked", "alive", "alive_inside"),
    # component: the model; statistics of its input
    "input": ("mean", "std", "minimum", "maximum", "nonfinite"),
    # component: the environment (WorldFact); steps are its own. One row per episode; one per stretch of steps: the share of
    # the action chosen most often, and the rewards
    "episode": ("return", "length", "terminated", "truncated"),
    "behaviour": ("top_action_share", "reward_mean", "reward_std"),
    # component: the agent (AgentFact); steps are its environment steps; entropy in nats; values and rewards of what it gathered
    "agent": (
        "entropy",
        "policy_loss",
        "value_loss",
        "explained_variance",
        "divergence",
        "value_rms",
        "value_highest",
        "return_rms",
        "reward_rms",
        "observation_rms",
        "exploration",
        "updates",
    ),
}

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """Values at steps: `values[i, j]` is column j at `steps[i]`; steps never decrease."""

    kind: str
    component: str
    columns: tuple[str, ...]
    steps: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.steps)

    def column(self, name: str) -> FloatArray:
        """One column; all NaN if the trace was written before that column existed."""
        if name not in self.columns:
            return np.full(len(self.steps), np.nan)
        return self.values[:, self.columns.index(name)]

    def known(self, name: str) -> tuple[IntArray, FloatArray]:
        """Steps and values of one column where it was measured (not NaN)."""
        values = self.column(name)
        there = ~np.isnan(values)
        return self.steps[there], values[there]

    @staticmethod
    def of(kind: str, component: str, rows: Mapping[int, tuple[float, ...] | Mapping[str, float]]) -> Table:
        """A table from literal rows, of the first columns or by their names; for examples and tests."""
        columns = COLUMNS[kind]
        values = np.full((len(rows), len(columns)), np.nan)
        for index, row in enumerate(rows.values()):
            if isinstance(row, Mapping):
                row = tuple(row.get(name, np.nan) for name in columns)
            values[index, : len(row)] = row
        return Table(kind, component, columns, np.fromiter(rows, dtype=np.int64, count=len(rows)), values)
