"""What to add to a test set: classes that it lacks, and what else of the training data or a larger set would kill survivors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netmend.mutate.additions import Addition, Pool, Survivor, additions
from netmend.mutate.examined import Examined
from netmend.mutate.result import Mutant
from netmend.mutate.scoring import COUNTED
from netmend.mutate.study import Study
from netmend.mutate.test_sets import TRAINING, Subset, TestSet
from netmend.mutate.verdicts import scores_verdict

_MOST_INPUTS = 20
_LEAST_RUNS = 3  # below, a choice of inputs cannot be checked


def advice(study: Study, test: TestSet | Subset) -> tuple[tuple[Addition, ...], str]:
    """What of the pool would kill survivors: for a part of a set the whole set is the pool, for others the training data."""
    judge = study.judge
    assert judge is not None
    pool = test.of if isinstance(test, Subset) else TRAINING
    left = [
        mutant for mutant in study.mutants if mutant.standing == COUNTED and not mutant.is_killed(test.name)
    ]
    examined = [run.examined for run in judge.originals if run.examined is not None]
    orders, labels = lined_up(examined, pool)
    if orders is None:
        return (), pool
    survivors = [
        made for mutant in left if (made := _survivor(study, mutant, test, pool, orders)) is not None
    ]
    if not survivors:
        return (), pool
    same = len({each.digest(pool) for each in examined}) == 1
    numbers = orders[0].astype(np.int64)
    present = _classes_of(study, test, examined[0])
    first, survivors = lacking(survivors, labels, present, numbers, judge.higher_is_better)
    offered = additions(
        survivors,
        Pool(labels, numbers),
        higher_is_better=judge.higher_is_better,
        most_inputs=_MOST_INPUTS if same else 0,
    )
    return (*first, *offered), pool


def _classes_of(study: Study, test: TestSet | Subset, examined: Examined) -> set[float]:
    labels = examined.labels(test.of if isinstance(test, Subset) else test.name)
    if labels is None:
        return set()
    index = study.laboratory.index(test, examined) if isinstance(test, Subset) else slice(None)
    return set(labels[index].tolist())


def lacking(
    survivors: list[Survivor],
    labels: np.ndarray | None,
    present: set[float],
    numbers: np.ndarray,
    higher_is_better: bool,
) -> tuple[list[Addition], list[Survivor]]:
    """Classes that a set does not have at all, added together: no choice is made, so luck has no part in it.

    What that kills, and the survivors that are left, judged with these classes from then on.
    """
    missing = (
        [] if labels is None else sorted({int(label) for label in labels} - {int(one) for one in present})
    )
    if labels is None or not missing:
        return [], survivors
    chosen = np.isin(labels, missing)
    enlarged = [
        replace(
            each,
            original=np.concatenate([each.original, each.pool_original[:, chosen]], axis=1),
            mutant=np.concatenate([each.mutant, each.pool_mutant[:, chosen]], axis=1),
        )
        for each in survivors
    ]
    killed = [each for each in enlarged if _is_killed(each, higher_is_better)]
    if not killed:
        return [], survivors
    word = "class" if len(missing) == 1 else "classes"
    what = f"{word} {', '.join(map(str, missing))} (which it lacks)"
    label = missing[0] if len(missing) == 1 else None
    names = tuple(each.name for each in killed)
    made = Addition(what, names, tuple(int(number) for number in numbers[chosen]), label)
    return [made], [each for each in enlarged if each not in killed]


def _is_killed(survivor: Survivor, higher_is_better: bool) -> bool:
    old, new = (rows.mean(axis=1).tolist() for rows in (survivor.original, survivor.mutant))
    return scores_verdict(old, new, higher_is_better=higher_is_better).killed


def lined_up(examined: Sequence[Examined], pool: str) -> tuple[list[np.ndarray] | None, np.ndarray | None]:
    """For each training the rows of the pool in one common order, and their classes.

    The same data lines up input by input. Where every seed has other data, rows of the same class stand for each other, of each class
    as many as all trainings have; without classes nothing can be lined up.
    """
    found = [each.labels(pool) for each in examined]
    if any(labels is None for labels in found):
        same = len({each.digest(pool) for each in examined}) == 1
        return ([each.order(pool) for each in examined] if same else None), None
    counts = [Counter(labels.tolist()) for labels in found if labels is not None]
    kept = {label: min(count[label] for count in counts) for label in counts[0]}
    orders = []
    for each in examined:
        labels, order = each.labels(pool), each.order(pool)
        assert labels is not None
        orders.append(
            np.concatenate([order[labels[order] == label][: kept[label]] for label in sorted(kept)])
        )
    classes = np.concatenate([np.full(kept[label], int(label), dtype=np.int64) for label in sorted(kept)])
    return orders, classes


def _survivor(
    study: Study, mutant: Mutant, test: TestSet | Subset, pool: str, orders: Sequence[np.ndarray]
) -> Survivor | None:
    judge = study.judge
    assert judge is not None
    whole = test.of if isinstance(test, Subset) else test.name
    rows: list[tuple[np.ndarray, ...]] = []
    for original, run, order in zip(judge.originals, study.runs[mutant.name], orders, strict=False):
        mine, its = original.examined, run.examined
        if mine is None or its is None or run.failure:
            continue
        if mine.inputs(pool) != its.inputs(pool) or mine.inputs(whole) != its.inputs(whole):
            return None
        index = study.laboratory.index(test, mine) if isinstance(test, Subset) else slice(None)
        answers = [(each.values(whole)[index], each.values(pool)[order]) for each in (mine, its)]
        rows.append((answers[0][0], answers[1][0], answers[0][1], answers[1][1]))
    if len(rows) < _LEAST_RUNS:
        return None
    columns = [_same_length(column) for column in zip(*rows, strict=True)]
    return Survivor(mutant.name, *columns)


def _same_length(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Where trainings have test sets of slightly different sizes, the inputs that all have."""
    shortest = min(len(row) for row in rows)
    return np.asarray([row[:shortest] for row in rows], dtype=float)
