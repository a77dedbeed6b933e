"""Rules alone and rules with the learned model, told apart by the same code that the product ranks with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from ranking.model import Model
from ranking.predict import Judgement, confidences_of
from ranking.weigh import log_odds, missed, reweighed
from rows import Row

from netmend.localise.rank import Ranking, best_guess, rank
from netmend.vocabulary import Fault


@dataclass(frozen=True)
class Limits:
    """When to speak: from which confidence of a cause, and below which share of healthy runs among those alike."""

    least_confidence: float
    most_healthy: float


@dataclass(frozen=True)
class Answer:
    """What is told of one run: causes, best first, and the confidence of the first."""

    told: tuple[str, ...]
    confidence: float


def by_rules(row: Row) -> Answer:
    return _answer(row.accused, Ranking(), row.unmissable)


def by_learned(row: Row, shares: dict[str, float], model: Model) -> Answer:
    """`shares` of a forest that has not seen the row's program."""
    return weighed(row, shares, model).answer()


@dataclass(frozen=True, eq=False)
class Weighed:
    """A run with everything but the limits applied."""

    row: Row
    judgement: Judgement
    accused: tuple[Fault, ...]

    def answer(self, limits: Limits | None = None) -> Answer:
        """What is told, with the model's own limits or others."""
        judgement = self.judgement
        if limits is not None:
            judgement = replace(judgement, model=replace(judgement.model, **vars(limits)))
        failed = self.row.unmissable or judgement.failed
        raised = missed(self.row.accused, judgement, failed)
        more = () if raised is None else (_bare(raised, judgement.confidences[raised]),)
        return _answer((*self.accused, *more), Ranking(judgement.model.least_confidence), failed)


def weighed(row: Row, shares: dict[str, float], model: Model) -> Weighed:
    confidences = confidences_of(shares, log_odds(row.accused), model)
    judgement = Judgement(model, np.empty(0), row.values, shares, confidences)
    return Weighed(row, judgement, tuple(reweighed(row.accused, judgement)))


def _bare(cause: str, confidence: float) -> Fault:
    return Fault(cause, round(min(0.99, confidence), 3), "learned", None, "", "", "", "")


def _answer(accused: Sequence[Fault], ranking: Ranking, failed: bool) -> Answer:
    faults, suspects = rank(accused, ranking)
    if not faults and failed:
        faults, suspects = best_guess(suspects, ranking)
    return Answer(tuple(fault.cause for fault in faults), faults[0].confidence if faults else 0.0)


def figures(rows: Sequence[Row], answers: Sequence[Answer]) -> dict:
    """Shares over faulty runs, false alarms over healthy ones, and how far confidences are from how often they are right."""
    faulty = [(row, answer) for row, answer in zip(rows, answers, strict=True) if row.source.causes]
    clean = [
        (row, answer)
        for row, answer in zip(rows, answers, strict=True)
        if not row.source.causes and not row.source.harmless
    ]
    harmless = [(row, answer) for row, answer in zip(rows, answers, strict=True) if row.source.harmless]
    spoken = [(row, answer) for row, answer in [*faulty, *clean, *harmless] if answer.told]
    sure = [answer.confidence for _, answer in spoken]
    right = [_right(row, answer.told[:1]) for row, answer in spoken]
    return {
        "faulty": len(faulty),
        "detected": _share(bool(answer.told) for _, answer in faulty),
        "rank1": _share(_right(row, answer.told[:1]) for row, answer in faulty),
        "top3": _share(_right(row, answer.told[:3]) for row, answer in faulty),
        "recall": _mean(_recall(row, answer) for row, answer in faulty),
        "healthy": len(clean),
        "false_alarms": _share(bool(answer.told) for _, answer in clean),
        "harmless": len(harmless),
        "told_of_harmless": _share(bool(answer.told) for _, answer in harmless),
        "other_told_of_harmless": _share(
            bool(answer.told) and answer.told[0] not in row.source.harmless for row, answer in harmless
        ),
        "ece": calibration_error(sure, right),
        "reliability": reliability(sure, right),
    }


def per_cause(rows: Sequence[Row], answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Precision and recall of the fault told first, by cause."""
    true, told, both = Counter(), Counter(), Counter()
    for row, answer in zip(rows, answers, strict=True):
        first = answer.told[0] if answer.told else None
        hit = first is not None and _right(row, (first,))
        if first is not None and first not in row.source.harmless:
            told[first] += 1
            both[first] += hit
        for accepted in row.source.causes:
            true[accepted[0]] += 1
            both["recall " + accepted[0]] += first in accepted
    return {
        cause: {
            "runs": true[cause],
            "told": told[cause],
            "precision": both[cause] / told[cause] if told[cause] else None,
            "recall": both["recall " + cause] / true[cause] if true[cause] else None,
        }
        for cause in sorted({*true, *told})
    }


def calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error: mean distance of confidence and share right, over bins of equal width."""
    total = max(1, len(confidences))
    return float(
        sum(
            row["runs"] / total * abs(row["confidence"] - row["right"])
            for row in reliability(confidences, right, bins)
        )
    )


def reliability(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> list[dict]:
    sure, hit = np.asarray(confidences, dtype=float), np.asarray(right, dtype=float)
    places = np.minimum((sure * bins).astype(int), bins - 1)
    return [
        {
            "from": place / bins,
            "runs": int((places == place).sum()),
            "confidence": float(sure[places == place].mean()),
            "right": float(hit[places == place].mean()),
        }
        for place in range(bins)
        if (places == place).any()
    ]


def _right(row: Row, told: Sequence[str]) -> bool:
    accepted = {code for codes in row.source.causes for code in codes} | set(row.source.harmless)
    return any(code in accepted for code in told)


def _recall(row: Row, answer: Answer) -> float:
    return float(np.mean([any(code in answer.told[:3] for code in codes) for codes in row.source.causes]))


def _share(values) -> float:
    return _mean(float(value) for value in values)


def _mean(values) -> float:
    found = list(values)
    return float(np.mean(found)) if found else float("nan")
