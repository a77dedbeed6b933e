"""Fitting of the learned model: boosted trees over features, and the small model that joins them with the rules.

scikit-learn is needed here only; what comes out is plain arrays.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from ranking.combination import HEALTHY, TERMS, Combination, terms
from ranking.features import row, words
from ranking.forest import LEAF, Forest
from ranking.predict import candidates
from ranking.weigh import log_odds
from rows import Row
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from verdicts import half_of

FOLDS = 5
ROUNDS = 50  # one tree for each class in each
LEAST_PROGRAMS = 3  # a cause that fewer programs show is left to the rules


def names_of(found: Sequence[Row]) -> tuple[str, ...]:
    """Features that vary over the runs at all."""
    table = np.array([row(each.values, words()) for each in found])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        varies = (np.nanmax(table, axis=0) > np.nanmin(table, axis=0)) | (
            np.isnan(table).any(axis=0) & ~np.isnan(table).all(axis=0)
        )
    return tuple(name for name, there in zip(words(), varies, strict=True) if there)


def known_causes(found: Sequence[Row]) -> tuple[str, ...]:
    programs: dict[str, set[str]] = {}
    for each in found:
        for accepted in each.source.causes:
            programs.setdefault(accepted[0], set()).add(each.source.program)
    return tuple(sorted(code for code, where in programs.items() if len(where) >= LEAST_PROGRAMS))


def examples(found: Sequence[Row], causes: Sequence[str]) -> tuple[list[int], list[str], list[float]]:
    """Row, class and weight of every example: a run with two causes counts half for each; the rest of the causes are of no class."""
    indices, classes, weights = [], [], []
    for index, each in enumerate(found):
        if each.source.harmless and each.told:
            continue  # a fault that did no harm here, and shows all the same: neither healthy nor faulty
        own = [accepted[0] for accepted in each.source.causes]
        labels = [code for code in own if code in causes] if own else [HEALTHY]
        for label in labels:
            indices.append(index)
            classes.append(label)
            weights.append(1 / len(labels))
    return indices, classes, weights


def fit_forest(found: Sequence[Row], names: Sequence[str]) -> Forest:
    causes = known_causes(found)
    indices, classes, weights = examples(found, causes)
    table = np.array([row(found[index].values, names) for index in indices])
    weight = np.array(weights) * balance(np.array(classes), np.array(weights))
    usable = dividing(table)
    made = boosting().fit(table[:, usable], classes, sample_weight=weight)
    return exported(made, [names[index] for index in usable])


def boosting(seed: int = 0) -> HistGradientBoostingClassifier:
    """Small trees, each over a fifth of the features: few runs show a cause, and many features say nearly the same."""
    return HistGradientBoostingClassifier(
        max_iter=ROUNDS,
        max_leaf_nodes=8,
        learning_rate=0.1,
        min_samples_leaf=5,
        max_features=0.2,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )


def dividing(table: np.ndarray) -> list[int]:
    """Columns with at least two known values: the others cannot be divided by."""
    return [index for index, column in enumerate(table.T) if len(np.unique(column[~np.isnan(column)])) > 1]


def balance(classes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Most of the way to equal classes: rare causes are heard, frequent ones keep some of their due. One on average."""
    totals = {name: weights[classes == name].sum() for name in np.unique(classes)}
    found = np.array([totals[name] ** -0.75 for name in classes])
    return found / (found * weights).mean()


def exported(made: HistGradientBoostingClassifier, names: Sequence[str]) -> Forest:
    """scikit-learn's trees as arrays; nodes above leaves get the average of what lies below, each leaf counted by its runs."""
    parts: dict[str, list[np.ndarray]] = {
        key: [] for key in ("feature", "threshold", "right", "missing", "value")
    }
    starts, speaks_of = [0], []
    for of_round in made._predictors:
        for index, predictor in enumerate(of_round):
            nodes = predictor.nodes
            inner = nodes["is_leaf"] == 0
            if not (nodes["left"][inner] == np.flatnonzero(inner) + 1).all():
                raise SystemExit("scikit-learn's trees are not in preorder any more; the export needs that")
            parts["feature"].append(np.where(inner, nodes["feature_idx"], LEAF).astype(np.int16))
            parts["threshold"].append(np.where(inner, nodes["num_threshold"], 0.0))
            parts["right"].append(np.where(inner, nodes["right"].astype(np.int64) + starts[-1], 0))
            parts["missing"].append(nodes["missing_go_to_left"].astype(bool) & inner)
            parts["value"].append(_averages(nodes, inner))
            starts.append(starts[-1] + len(nodes))
            speaks_of.append(index)
    joined = {key: np.concatenate(values) for key, values in parts.items()}
    return Forest(
        tuple(names),
        tuple(str(name) for name in made.classes_),
        np.asarray(made._baseline_prediction, dtype=np.float64).ravel(),
        np.array(starts, dtype=np.int64),
        np.array(speaks_of, dtype=np.int64),
        joined["feature"],
        joined["threshold"],
        joined["right"],
        joined["missing"],
        joined["value"].astype(np.float32).astype(np.float64),
    )


def _averages(nodes: np.ndarray, inner: np.ndarray) -> np.ndarray:
    value = np.where(inner, 0.0, nodes["value"])
    for node in np.flatnonzero(inner)[::-1]:  # children come after their node
        below = [int(nodes["left"][node]), int(nodes["right"][node])]
        value[node] = np.average(value[below], weights=nodes["count"][below])
    return value


def folds(found: Sequence[Row], seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to ask; runs of one program are always on the same side."""
    programs = [each.source.program for each in found]
    splitter = GroupKFold(FOLDS, shuffle=True, random_state=seed)
    yield from splitter.split(programs, groups=programs)


def shares_of(forest: Forest, each: Row) -> dict[str, float]:
    return dict(zip(forest.classes, forest.shares(row(each.values, forest.features)).tolist(), strict=True))


def fit_combination(found: Sequence[Row], shares: Sequence[dict[str, float]]) -> Combination:
    """Logistic regression over all pairs of a run and a cause that is worth weighing; shares must be of unseen runs.

    Only mutants of the half of the programs that nobody looked at while writing rules: on what rules were tuned on, they look more
    trustworthy than they are.
    """
    table, right = [], []
    for each, said in zip(found, shares, strict=True):
        if each.source.kind != "mutant" or half_of(each.source.program) != "odd":
            continue
        odds = log_odds(each.accused)
        accepted = {code for codes in each.source.causes for code in codes}
        for cause in candidates(said, odds):
            if cause in said and cause not in each.source.harmless:
                table.append(terms(cause, said, odds))
                right.append(cause in accepted)
    made = LogisticRegression(C=1.0, max_iter=2000).fit(np.array(table), right)
    weights = tuple(round(float(weight), 4) for weight in made.coef_[0])
    assert len(weights) == len(TERMS)
    return Combination(round(float(made.intercept_[0]), 4), weights)
