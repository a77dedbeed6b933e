"""Why a file ranks where it does: the evidence of its strongest signals, in sentences."""

from __future__ import annotations

from dataclasses import replace

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.features import WEIGHTS, Measured
from netmend.locate.query import Query
from netmend.locate.signals import SIGNALS, SPREADING

_SHOWN = 5
# Beside those of the fixed sum: what else is worth telling, with the weight that orders it.
_ALSO = {"tag": 0.3, "imported": 0.2}
# Told only above this share of the largest value: nearly every file has a little of them.
_WEAK = {"changed_30": 0.5, "similar_commits_all": 0.6, "subjects_all": 0.7, "imported": 0.6}
_MOST_LISTS = 2  # reasons that merely list words


def reasons_for(query: Query, corpus: Corpus, measured: Measured, row: int) -> tuple[Reason, ...]:
    """The strongest evidence first."""
    found: list[Reason] = []
    for signal in SIGNALS:
        if share := _share(measured, signal.name, row):
            found.extend(replace(one, weight=share) for one in signal.reasons(query, corpus, row))
    for spreading in SPREADING:
        if share := _share(measured, spreading.name, row):
            told = spreading.reasons(query, corpus, measured.first, row)
            found.extend(replace(one, weight=share) for one in told)
    return tuple(_chosen(sorted(found, key=lambda reason: -reason.weight)))


def _share(measured: Measured, name: str, row: int) -> float:
    """How much a signal speaks for a file; 0 where that is not worth telling."""
    values = measured.scores[name]
    top = float(values.max(initial=0.0))
    if top <= 0 or values[row] <= _WEAK.get(name, 0.0) * top:
        return 0.0
    return round(WEIGHTS.get(name, _ALSO.get(name, 0.0)) * float(values[row]) / top, 4)


def _chosen(reasons: list[Reason]) -> list[Reason]:
    """The first few; a list of words only where it adds one."""
    kept: list[Reason] = []
    told: set[str] = set()
    lists = 0
    for reason in reasons:
        if reason.text in {one.text for one in kept}:
            continue
        if reason.kind == "words":
            if lists == _MOST_LISTS or told.issuperset(reason.words):
                continue
            lists += 1
            told.update(reason.words)
        kept.append(reason)
    return kept[:_SHOWN]
