"""Fitting of the learned model: a forest of random trees over features, and the small model that joins it with the rules.

scikit-learn is needed here only; what comes out is plain arrays.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from rows import Row
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from netmend.diagnose.learned.combination import HEALTHY, TERMS, Combination, terms
from netmend.diagnose.learned.features import row, words
from netmend.diagnose.learned.forest import LEAF, Forest
from netmend.diagnose.learned.predict import candidates
from netmend.localise.learned_ranking import log_odds

FOLDS = 5
TREES = 200
LEAST_PROGRAMS = 3  # a cause that fewer programs show is left to the rules
HEALTHY_WEIGHT = 1.0  # healthy runs together, relative to the faulty ones together


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


def fit_forest(found: Sequence[Row], names: Sequence[str], trees: int = TREES, seed: int = 0) -> Forest:
    causes = known_causes(found)
    indices, classes, weights = examples(found, causes)
    table = np.array([row(found[index].values, names) for index in indices])
    weight = np.array(weights) * balance(np.array(classes), np.array(weights))
    made = ExtraTreesClassifier(trees, max_features=0.3, min_samples_leaf=1, random_state=seed, n_jobs=1)
    made.fit(table, classes, sample_weight=weight)
    return exported(made, names)


def balance(classes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Half-way to equal classes: rare causes are heard, frequent ones keep some of their due."""
    totals = {name: weights[classes == name].sum() for name in np.unique(classes)}
    return np.array([totals[name] ** -0.5 for name in classes])


def exported(made: ExtraTreesClassifier, names: Sequence[str]) -> Forest:
    """scikit-learn's trees as arrays. Thresholds are rounded down to what 32 bits hold: values have 32 bits, so nothing changes sides."""
    parts: dict[str, list[np.ndarray]] = {
        key: [] for key in ("feature", "threshold", "right", "missing", "size", "members", "weights")
    }
    starts = [0]
    for estimator in made.estimators_:
        tree = estimator.tree_
        inner = tree.children_left != -1
        if not (tree.children_left[inner] == np.flatnonzero(inner) + 1).all():
            raise SystemExit("scikit-learn's trees are not in preorder any more; the export needs that")
        parts["feature"].append(np.where(inner, tree.feature, LEAF).astype(np.int16))
        parts["threshold"].append(_rounded_down(np.where(inner, tree.threshold, 0.0)))
        parts["right"].append(np.where(inner, tree.children_right + starts[-1], 0).astype(np.int64))
        parts["missing"].append(np.asarray(tree.missing_go_to_left).astype(bool))
        shares = tree.value[~inner, 0, :] * tree.weighted_n_node_samples[~inner, None]
        leaves, members = np.nonzero(shares)
        parts["size"].append(np.bincount(leaves, minlength=len(shares)))
        parts["members"].append(members)
        parts["weights"].append(shares[leaves, members].astype(np.float32).astype(np.float64))
        starts.append(starts[-1] + tree.node_count)
    joined = {key: np.concatenate(values) for key, values in parts.items()}
    return Forest(
        tuple(names),
        tuple(str(name) for name in made.classes_),
        np.array(starts, dtype=np.int64),
        joined["feature"],
        joined["threshold"],
        joined["right"],
        joined["missing"],
        np.concatenate([[0], np.cumsum(joined["size"])]).astype(np.int64),
        joined["members"].astype(np.int64),
        joined["weights"],
    )


def _rounded_down(values: np.ndarray) -> np.ndarray:
    near = values.astype(np.float32)
    above = near.astype(np.float64) > values
    return np.where(above, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)


def folds(found: Sequence[Row], seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to ask; runs of one program are always on the same side."""
    programs = [each.source.program for each in found]
    splitter = GroupKFold(FOLDS, shuffle=True, random_state=seed)
    yield from splitter.split(programs, groups=programs)


def shares_of(forest: Forest, each: Row) -> dict[str, float]:
    return dict(zip(forest.classes, forest.shares(row(each.values, forest.features)).tolist(), strict=True))


def unseen_shares(found: Sequence[Row], names: Sequence[str], trees: int = TREES) -> list[dict[str, float]]:
    """What forests say of each run that were made without its program."""
    shares: list[dict[str, float]] = [{} for _ in found]
    for learn, ask in folds(found):
        forest = fit_forest([found[index] for index in learn], names, trees)
        for index in ask:
            shares[index] = shares_of(forest, found[index])
    return shares


def fit_combination(found: Sequence[Row], shares: Sequence[dict[str, float]]) -> Combination:
    """Logistic regression over all pairs of a run and a cause that is worth weighing; shares must be of unseen runs."""
    table, right = [], []
    for each, said in zip(found, shares, strict=True):
        odds = log_odds(each.accused)
        accepted = {code for codes in each.source.causes for code in codes}
        for cause in candidates(said, odds):
            if cause not in each.source.harmless:
                table.append(terms(cause, said, odds))
                right.append(cause in accepted)
    made = LogisticRegression(C=1.0, max_iter=2000).fit(np.array(table), right)
    weights = tuple(round(float(weight), 4) for weight in made.coef_[0])
    assert len(weights) == len(TERMS)
    return Combination(round(float(made.intercept_[0]), 4), weights)
