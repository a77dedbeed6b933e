"""Mutants of trained weights, judged over the originals: each one is changed alike and examined without training."""

from __future__ import annotations

from collections.abc import Sequence

from netmend.mutate.judging import Judge
from netmend.mutate.laboratory import Run
from netmend.mutate.outcomes import standing_of
from netmend.mutate.result import WEIGHT_LEVEL, Mutant
from netmend.mutate.test_sets import TRAINING
from netmend.mutate.triviality import triviality, triviality_of_errors
from netmend.mutate.verdicts import scores_verdict


def weight_mutants(judge: Judge, originals: Sequence[Run]) -> list[Mutant]:
    """Those that were made of all originals."""
    first = originals[0].examined
    names = () if first is None else first.weight_mutants
    shared = [
        name
        for name in names
        if all(run.examined and name in run.examined.weight_mutants for run in originals)
    ]
    return [_mutant(judge, originals, name) for name in shared]


def _mutant(judge: Judge, originals: Sequence[Run], name: str) -> Mutant:
    score = judge.laboratory.score
    scores = {test: tuple(score(run, test, name) for run in originals) for test in judge.sets}
    verdicts = {
        test: scores_verdict(judge.original_scores(test), own, higher_is_better=judge.higher_is_better)
        for test, own in scores.items()
    }
    known = [run.examined for run in originals if run.examined is not None]
    compare = triviality if judge.higher_is_better else triviality_of_errors
    trivial = compare(
        [each.values(TRAINING) for each in known], [each.values(TRAINING, name) for each in known]
    )
    _, code, place, share = name.split("/", 3)
    return Mutant(
        name=name,
        operator=code,
        cause="",
        title=f"{place}, {float(share):.0%} of it",
        level=WEIGHT_LEVEL,
        standing=standing_of(verdicts[TRAINING], trivial),
        runs=len(known),
        verdicts=verdicts,
        scores=scores,
        triviality=trivial,
        value=float(share),
        place=place,
    )
