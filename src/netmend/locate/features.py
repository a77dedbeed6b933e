"""What the signals say of every file, scaled within the question, and their sum with fixed weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats
from netmend.locate.query import Query
from netmend.locate.signals import SIGNALS, SPREADING
from netmend.locate.signals.history import PRIORS

# A weighted sum of signals: the ranking that needs no trained model, and that spreading signals start from.

# Round numbers, set by hand and not fitted: those of a first study, and for signals it did not have (functions, similar
# commits, quoted lines of code) what signals of the same kind were given; some were raised after a look at how well single
# signals do on 129 reports. Each signal is divided by its largest value.
WEIGHTS: Mapping[str, float] = {
    "body_all_raw": 0.5,
    "body_all": 0.5,
    "passage_all_top3": 0.5,
    "path_all": 0.6,
    "classes_all": 0.25,
    "functions_all": 0.25,
    "comments_all": 0.3,
    "subjects_all": 0.2,
    "similar_commits_all": 0.4,
    "referenced": 0.6,
    "names_all": 0.5,
    "class_names_all": 0.5,
    "trace": 1.0,
    "path_mention": 1.2,
    "module_mention": 0.5,
    "message": 0.4,
    "quoted_text": 0.3,
    "quoted_code": 0.5,
    "similar_reports": 0.3,
    "changed_30": 0.3,
    "executed": 0.5,
}
PENALTIES: Mapping[str, float] = {"peripheral": -0.4, "package_file": -0.2}


def fixed_scores(scores: Mapping[str, Floats], size: int) -> Floats:
    """The sum for each file."""
    total = np.zeros(size)
    for name, weight in WEIGHTS.items():
        values = scores[name]
        top = float(values.max(initial=0.0))
        if top > 0:
            total += weight * values / top
    for name, weight in PENALTIES.items():
        total += weight * scores[name]
    return total


# All signals of all files as one matrix: what a fusion ranks by.

_UNSCALED = frozenset(prior.name for prior in PRIORS)  # these mean the same in every query
_SIGNAL_NAMES = (*(signal.name for signal in SIGNALS), *(spreading.name for spreading in SPREADING))
_RANKED = (*(name for name in _SIGNAL_NAMES if name not in _UNSCALED), "fixed")
_OF_QUERY = ("files", "has_trace", "has_code", "title_words", "prose_words")


@dataclass(frozen=True)
class Features:
    names: tuple[str, ...]
    matrix: Floats  # files by features

    def column(self, name: str) -> Floats:
        return self.matrix[:, self.names.index(name)]


@dataclass(frozen=True)
class Measured:
    """Every signal's scores for one query; `first` is the ranking that spreading signals start from."""

    scores: Mapping[str, Floats]
    first: Floats


FEATURE_NAMES = (
    *_SIGNAL_NAMES,
    "fixed",
    *(f"{name}_rank" for name in _RANKED),
    *_OF_QUERY,
)


def measure(query: Query, corpus: Corpus) -> Measured:
    scores = {signal.name: signal.scores(query, corpus) for signal in SIGNALS}
    first = fixed_scores(scores, corpus.size)
    top = float(first.max(initial=0.0))
    positive = np.maximum(first, 0.0) / top if top > 0 else np.zeros(corpus.size)
    for spreading in SPREADING:
        scores[spreading.name] = spreading.scores(query, corpus, positive)
    return Measured(scores, positive)


def features(query: Query, corpus: Corpus, measured: Measured | None = None) -> Features:
    """Each signal divided by its largest value in the query, the reciprocal of its rank, and facts of the query."""
    measured = measured or measure(query, corpus)
    scaled = {
        name: values if name in _UNSCALED else _scaled(values) for name, values in measured.scores.items()
    }
    scaled["fixed"] = measured.first
    ranks = [_reciprocal_ranks(scaled[name]) for name in _RANKED]
    report = query.report
    whole = (
        np.log1p(corpus.size),
        float(bool(report.traces)),
        float(bool(report.code)),
        np.log1p(sum(query.title.values())),
        np.log1p(sum(query.prose.values())),
    )
    columns = [*scaled.values(), *ranks, *(np.full(corpus.size, value) for value in whole)]
    return Features(
        FEATURE_NAMES, np.column_stack(columns) if corpus.size else np.zeros((0, len(FEATURE_NAMES)))
    )


def _scaled(values: Floats) -> Floats:
    top = float(values.max(initial=0.0))
    return values / top if top > 0 else values


def _reciprocal_ranks(values: Floats) -> Floats:
    """1 for the best, 1/2 for the next; files of the same value share the mean of their ranks; 0 for value 0."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    new = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(values) else np.empty(0, bool)
    group = np.cumsum(new) - 1
    sizes = np.bincount(group) if len(values) else np.empty(0, int)
    means = np.cumsum(sizes) - (sizes - 1) / 2.0
    ranks = np.empty(len(values))
    ranks[order] = means[group] if len(values) else 0.0
    return np.where(values > 0, 1.0 / np.maximum(ranks, 1.0), 0.0)
