"""Judging runs by models that have not seen their programs, and the choice of when to speak."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
from collections.abc import Sequence

import fitting
import numpy as np
from fitting import fit_combination, fit_forest, folds, shares_of
from ranking.forest import Forest
from ranking.model import Model
from rows import LEARNED_RUNS, Row
from scoring import Limits, Weighed, figures, weighed

BUDGET = 0.025  # false alarms on healthy calibration runs; half of what is allowed, because rules were tuned on these programs
CONFIDENCES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
HEALTHY_SHARES = (0.0, 0.02, 0.04, 0.06, 0.09, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
_NONE = np.empty(0, dtype=np.int64)
_NO_FOREST = Forest(
    (), (), _NONE * 1.0, _NONE, _NONE, _NONE.astype(np.int16), _NONE * 1.0, _NONE, _NONE > 0, _NONE * 1.0
)  # for shares that are known already


def unseen_shares(found: Sequence[Row], names: Sequence[str]) -> list[dict[str, float]]:
    """What forests say of each run that were made without its program; kept on disk, because it takes minutes."""
    asked = [[each.source.run, each.source.causes, each.source.harmless, each.values] for each in found]
    how = [inspect.getsource(fitting), list(names), asked]
    key = hashlib.sha256(json.dumps(how).encode()).hexdigest()[:16]
    file = LEARNED_RUNS / "features" / f"unseen-{key}.json"
    if not file.exists():
        shares: list[dict[str, float]] = [{} for _ in found]
        for learn, ask in folds(found):
            forest = fit_forest([found[index] for index in learn], names)
            for index in ask:
                shares[index] = shares_of(forest, found[index])
        file.write_text(json.dumps(shares), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))


def unseen(found: Sequence[Row], shares: Sequence[dict[str, float]]) -> list[Weighed]:
    """Each run weighed by a combination that was made without its program; `shares` must be of such forests too."""
    made: dict[int, Weighed] = {}
    for learn, ask in folds(found):
        combination = fit_combination([found[i] for i in learn], [shares[i] for i in learn])
        model = Model(_NO_FOREST, combination, 0.5, 0.0)
        made |= {int(i): weighed(found[i], shares[i], model) for i in ask}
    return [made[i] for i in range(len(found))]


def best_limits(found: Sequence[Row], known: Sequence[Weighed]) -> Limits:
    """The limits with the most true causes at rank 1 among those that keep healthy runs within the budget."""
    best, most = Limits(CONFIDENCES[-1], 0.0), -1.0
    for least, healthy in itertools.product(CONFIDENCES, HEALTHY_SHARES):
        limits = Limits(least, healthy)
        shown = figures(found, [each.answer(limits) for each in known])
        if shown["false_alarms"] <= BUDGET and shown["rank1"] > most:
            best, most = limits, shown["rank1"]
    return best
