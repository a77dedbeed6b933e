"""Learned fusion of signals: LambdaMART over reports of other projects, with whole projects held out.

More evidence never ranks a file lower: trees may rise only with a signal (priors and facts of the query are free). That is what carries
over to projects nobody has seen.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netmend.errors import MissingExtra
from netmend.locate.features import FEATURE_NAMES
from netmend.locate.signals.history import PRIORS

Rows = NDArray[np.float32]
# Reciprocal ranks of single signals were no help (measured), that of the fixed sum is.
USED = tuple(name for name in FEATURE_NAMES if not name.endswith("_rank") or name == "fixed_rank")
_OF_QUERY = ("files", "has_trace", "has_code", "title_words", "prose_words")
_OF_HISTORY = ("new", "touched", "churn")
FREE = frozenset(
    [*_OF_QUERY, *_OF_HISTORY, *(prior.name for prior in PRIORS)]
)  # may count for or against a file


@dataclass(frozen=True)
class Example:
    """The candidates of one report as a learner sees them."""

    report: str
    project: str
    rows: Rows  # a row a candidate, a column for each of USED
    fixed: NDArray[np.bool_]
    first: NDArray[np.float32]  # the unlearned score, which decides what candidates are worth learning from


@dataclass(frozen=True)
class Settings:
    """How the trees are grown."""

    trees: int = 300
    leaves: int = 15
    rate: float = 0.05
    smallest: int = 40  # rows in a leaf
    columns: float = 0.4  # share of the features that a tree may use
    penalty: float = 5.0  # on the size of a leaf's value
    kept: int = 100  # best candidates a report that are learned from ...
    drawn: int = 30  # ... and others, by chance
    seed: int = 1


# Tried in inner parts; the first is used where there is no time to choose.
CHOICES = (Settings(), Settings(leaves=7, trees=500))


def fit(examples: Sequence[Example], settings: Settings) -> Any:
    """A LightGBM booster."""
    try:
        import lightgbm
    except ImportError as missing:
        raise MissingExtra(
            "learning the fusion needs LightGBM, which is not installed here; install it with: pip install 'netmend[learn]'"
        ) from missing
    usable = [example for example in examples if example.fixed.any() and not example.fixed.all()]
    chosen = [_worth(example, settings) for example in usable]
    rows = np.concatenate([example.rows[kept] for example, kept in zip(usable, chosen, strict=True)])
    wanted = np.concatenate([example.fixed[kept] for example, kept in zip(usable, chosen, strict=True)])
    weights = project_weights(usable)
    data = lightgbm.Dataset(
        rows,
        label=wanted.astype(np.int32),
        group=[len(kept) for kept in chosen],
        weight=np.repeat(weights, [len(kept) for kept in chosen]),
        free_raw_data=True,
    )
    parameters = {
        "objective": "lambdarank",
        "lambdarank_truncation_level": 20,
        "num_leaves": settings.leaves,
        "learning_rate": settings.rate,
        "min_data_in_leaf": settings.smallest,
        "feature_fraction": settings.columns,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "bagging_by_query": True,
        "lambda_l2": settings.penalty,
        "monotone_constraints": [0 if name in FREE else 1 for name in USED],
        "max_bin": 63,
        "num_threads": 1,
        "seed": settings.seed,
        "deterministic": True,
        "verbosity": -1,
    }
    return lightgbm.train(parameters, data, num_boost_round=settings.trees)


def project_weights(examples: Sequence[Example]) -> NDArray[np.float64]:
    """A project with four times the reports counts twice as much, not four times: it is one kind of code base."""
    counts = Counter(example.project for example in examples)
    weights = np.array([counts[example.project] ** -0.5 for example in examples])
    return np.asarray(weights / weights.mean())


def folds(sizes: Mapping[str, int], count: int, seed: int = 0) -> tuple[frozenset[str], ...]:
    """Projects dealt into parts with about as many reports each: the largest first, always to the smallest part."""
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    order.sort(key=lambda project: -sizes[project])
    parts: list[set[str]] = [set() for _ in range(min(count, len(order)))]
    for project in order:
        min(parts, key=lambda part: (sum(sizes[name] for name in part), len(part))).add(project)
    return tuple(frozenset(part) for part in parts)


def _worth(example: Example, settings: Settings) -> NDArray[np.int64]:
    """Numbers of the candidates to learn from: fixed ones, the best by the first score, some others by chance."""
    order = np.argsort(-example.first, kind="stable")
    best, rest = order[: settings.kept], order[settings.kept :]
    drawn = np.random.default_rng(len(order)).permutation(rest)[: settings.drawn]
    return np.unique(np.concatenate([best, drawn, np.flatnonzero(example.fixed)]))
