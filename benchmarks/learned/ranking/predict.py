"""What the learned model says of a run: a confidence for every cause that it or a rule thinks of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from netmend.vocabulary import Symptom, Trace
from netmend.vocabulary.table import FloatArray
from ranking.combination import HEALTHY, terms
from ranking.features import features, row
from ranking.model import Model, load

LEAST_SHARE = 0.02  # of the forest: causes below it that no rule accuses are not worth a word


@dataclass(frozen=True, eq=False)
class Judgement:
    """Confidences by cause, highest first."""

    model: Model
    row: FloatArray
    values: Mapping[str, float]
    shares: Mapping[str, float]
    confidences: Mapping[str, float]
    failures: tuple[str, ...] = ()

    @cached_property
    def first(self) -> str | None:
        """The likeliest cause."""
        return next(iter(self.confidences), None)

    @property
    def failed(self) -> bool:
        """Whether hardly any run that looks like this one was healthy."""
        return self.shares.get(HEALTHY, 1.0) < self.model.most_healthy


def judge(
    trace: Trace,
    symptoms: Iterable[Symptom],
    accusations: Mapping[str, float],
    model: Model | None = None,
) -> Judgement:
    """`accusations`: the rules' log-odds of every cause that they accuse."""
    known = model or load()
    values, failures = features(trace, symptoms, accusations)
    return judge_values(values, accusations, known, failures)


def judge_values(
    values: Mapping[str, float],
    accusations: Mapping[str, float],
    model: Model,
    failures: tuple[str, ...] = (),
) -> Judgement:
    """The same from features that were computed before."""
    forest = model.forest
    numbers = row(values, forest.features)
    shares = dict(zip(forest.classes, forest.shares(numbers).tolist(), strict=True))
    confidences = confidences_of(shares, accusations, model)
    return Judgement(model, numbers, values, shares, confidences, failures)


def confidences_of(
    shares: Mapping[str, float], accusations: Mapping[str, float], model: Model
) -> dict[str, float]:
    """The learned confidence of every cause that the forest knows; of the others that of the rules, as they are."""
    found = {
        cause: model.combination.confidence(terms(cause, shares, accusations))
        if cause in shares
        else 1 / (1 + math.exp(-accusations[cause]))
        for cause in candidates(shares, accusations)
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def candidates(shares: Mapping[str, float], accusations: Mapping[str, float]) -> list[str]:
    """Causes worth weighing: those the forest finds likely enough, and all that rules accuse."""
    likely = [name for name, share in shares.items() if share >= LEAST_SHARE and name != HEALTHY]
    return list(dict.fromkeys([*accusations, *likely]))
