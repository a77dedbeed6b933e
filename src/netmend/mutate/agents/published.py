"""Published results that a study is printed beside.

µPRL: "muPRL: A Mutation Testing Pipeline for Deep Reinforcement Learning based on Real Faults", ICSE 2025, Table III. Per operator: share of
trivial configurations, share of killable ones, mutation score of the weak and of the strong generator, sensitivity; None where the table has a dash.
RLMutation: mean sensitivity per pair as given in the same table.
"""

from __future__ import annotations

from dataclasses import dataclass

MEAN_SENSITIVITY = 0.63  # of µPRL over its eight pairs of environment and algorithm
RLMUTATION_BEST = 0.04
SOURCE = "µPRL, ICSE 2025, Table III"


@dataclass(frozen=True)
class Row:
    trivial: float
    killable: float
    weak: float | None = None
    strong: float | None = None
    sensitivity: float | None = None


TABLE: dict[tuple[str, str], dict[str, Row]] = {
    ("CartPole", "DQN"): {
        "SMR": Row(0.20, 0.60, 0.90, 0.90, 0.0), "SDF": Row(0, 0.80, 0.40, 0.44, 0.09), "SLS": Row(0.40, 0.60, 0.50, 0.75, 0.33),
        "NEI": Row(0, 0.80, 0.60, 0.67, 0.10), "SNU": Row(0.20, 0.80, 0.90, 0.80, 0.0), "mean": Row(0.16, 0.72, 0.66, 0.71, 0.11),
    },
    ("CartPole", "PPO"): {
        "SEC": Row(0, 0), "SDF": Row(0, 0.20, 0.40, 0.50, 0.20), "SNR": Row(0, 0), "NEI": Row(0, 0.20, 0.50, 0.60, 0.17),
        "mean": Row(0, 0.10, 0.45, 0.55, 0.18),
    },
    ("LunarLander", "PPO"): {
        "SEC": Row(0, 1.0, 0.10, 0.78, 0.87), "SDF": Row(0.25, 1.0, 0.10, 0.67, 0.85), "SNR": Row(0, 0.75, 0.10, 0.75, 0.87),
        "NEI": Row(0, 0.67, 0.0, 0.70, 1.0), "mean": Row(0.06, 0.85, 0.08, 0.73, 0.90),
    },
    ("LunarLander", "DQN"): {
        "SMR": Row(0, 0.80, 0.14, 1.0, 0.86), "SDF": Row(0.20, 1.0, 0.67, 0.70, 0.04), "SLS": Row(0, 0.80, 0.17, 0.60, 0.72),
        "NEI": Row(0.20, 0.60, 0.0, 0.67, 1.0), "SNU": Row(0, 1.0, 0.56, 0.88, 0.36), "mean": Row(0.08, 0.84, 0.31, 0.77, 0.60),
    },
    ("Parking", "SAC"): {
        "SDF": Row(0.20, 1.0, 0.80, 1.0, 0.20), "SLS": Row(0, 0.80, 0.0, 1.0, 1.0), "NEI": Row(0.20, 1.0, 0.0, 0.80, 1.0),
        "SPV": Row(0, 0.80, 0.0, 1.0, 1.0), "mean": Row(0.10, 0.90, 0.20, 0.95, 0.80),
    },
    ("Parking", "TQC"): {
        "SDF": Row(0, 0.80, 0.10, 0.60, 0.83), "SLS": Row(0, 0.60, 0.0, 0.30, 1.0), "NEI": Row(0, 0.80, 0.0, 0.30, 1.0),
        "SPV": Row(0, 0.40, 0.0, 0.90, 1.0), "mean": Row(0, 0.65, 0.03, 0.53, 0.96),
    },
    ("Humanoid", "SAC"): {
        "SDF": Row(0.75, 0.75), "SLS": Row(0, 1.0, 0.0, 0.22, 1.0), "NEI": Row(0.20, 1.0, 0.0, 0.20, 1.0),
        "SPV": Row(0, 0.50, 0.0, 0.10, 1.0), "mean": Row(0.24, 0.81, 0.0, 0.17, 1.0),
    },
    ("Humanoid", "TQC"): {
        "SDF": Row(0.60, 0.80, 0.10, 0.20, 0.50), "SLS": Row(0, 0), "NEI": Row(0, 0.40, 0.0, 0.0), "SPV": Row(0, 0),
        "mean": Row(0.15, 0.30, 0.05, 0.10, 0.50),
    },
}  # fmt: skip
RLMUTATION: dict[tuple[str, str], float] = {
    ("CartPole", "DQN"): 0.0, ("CartPole", "PPO"): 0.0, ("LunarLander", "PPO"): 0.04, ("LunarLander", "DQN"): 0.0,
}  # fmt: skip


def rows_for(environment: str, algorithm: str) -> dict[str, Row]:
    """The published rows of a pair; empty where the study did not look at it."""
    name = environment.rpartition("/")[2].partition("-v")[0]
    return TABLE.get((name, algorithm), {})
