"""What to add to a test set: classes first, then inputs, nothing that differs by luck only."""

from __future__ import annotations

import numpy as np
import pytest

from netmend.errors import UsageError
from netmend.mutate.additions import Addition, Pool, Survivor, additions
from netmend.mutate.verdicts import scores_verdict

RUNS = 5


def pool_of(inputs: int, labels: np.ndarray | None = None) -> Pool:
    return Pool(labels, np.arange(inputs) + 1000)


def results(inputs: int, chance: float, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random((RUNS, inputs)) < chance).astype(float)


def survivor(name: str, pool_mutant: np.ndarray, test: int = 40, seed: int = 0) -> Survivor:
    """On the test set original and mutant do equally well."""
    original = results(test, 0.95, seed)
    pool_original = results(pool_mutant.shape[1], 0.98, seed + 1)
    return Survivor(name, original, original.copy(), pool_original, pool_mutant)


def test_the_class_that_the_test_set_lacks() -> None:
    labels = np.repeat([0, 1, 2, 3], 25)
    blind = results(100, 0.98, 7)
    blind[:, labels == 3] = 0
    found = additions([survivor("blind to 3", blind)], pool_of(100, labels), higher_is_better=True)
    assert [(each.what, each.kills, each.label) for each in found] == [("class 3", ("blind to 3",), 3)]
    assert found[0].inputs == tuple(range(1075, 1100))


def test_one_class_for_many_before_one_for_few() -> None:
    labels = np.repeat([0, 1, 2], 30)
    mutants = []
    for number, blind in enumerate((1, 1, 2)):
        right = results(90, 0.98, 20 + number)
        right[:, labels == blind] = 0
        mutants.append(survivor(f"m{number}", right, seed=3 * number))
    found = additions(mutants, pool_of(90, labels), higher_is_better=True)
    assert [(each.what, each.kills) for each in found] == [("class 1", ("m0", "m1")), ("class 2", ("m2",))]


def test_few_inputs_where_no_class_helps() -> None:
    """Eight inputs in 2,000, spread over the classes."""
    telling = np.arange(8) * 250 + 3
    right = np.ones((RUNS, 2000))
    right[:, telling] = 0
    one = Survivor("rare", results(40, 1.0, 1), results(40, 1.0, 1), np.ones((RUNS, 2000)), right)
    noisy = np.tile([0.0, 1.0], RUNS)[:RUNS, None] * np.ones((1, 300))
    labels = np.arange(2000) % 2
    original, mutant = np.hstack([one.original, noisy]), np.hstack([one.mutant, noisy[::-1]])
    rare = Survivor("rare", original, mutant, one.pool_original, one.pool_mutant)
    quiet = Survivor("rare", one.original, one.mutant, one.pool_original, one.pool_mutant)
    found = additions([quiet], pool_of(2000, None), higher_is_better=True)
    assert len(found) == 1 and found[0].kills == ("rare",)
    assert {number - 1000 for number in found[0].inputs} <= set(telling.tolist())
    # A test set whose own noise is larger than what eight inputs can show
    assert additions([rare], pool_of(2000, labels), higher_is_better=True, most_inputs=8) == []


def test_what_is_told_kills_by_the_same_verdict() -> None:
    random = np.random.default_rng(5)
    right = results(400, 0.97, 9)
    right[:, :30] = random.random((RUNS, 30)) < 0.2
    one = survivor("weak", right)
    found = additions([one], pool_of(400), higher_is_better=True)
    taken = [number - 1000 for each in found for number in each.inputs]
    old = np.hstack([one.original, one.pool_original[:, taken]]).mean(axis=1)
    new = np.hstack([one.mutant, one.pool_mutant[:, taken]]).mean(axis=1)
    assert scores_verdict(list(old), list(new), higher_is_better=True).killed
    assert not scores_verdict(
        list(one.original.mean(axis=1)), list(one.mutant.mean(axis=1)), higher_is_better=True
    ).killed


def test_inputs_that_differ_by_luck_are_not_told() -> None:
    """An equivalent mutant: among 1,000 inputs some are always right here and wrong there."""
    told = luck = 0
    for seed in range(20):
        original, mutant = results(40, 0.8, 100 + seed), results(40, 0.8, 300 + seed)
        pool_original, pool_mutant = results(1000, 0.7, 500 + seed), results(1000, 0.7, 700 + seed)
        lucky = np.argsort((pool_mutant - pool_original).mean(axis=0))[:10]
        old = np.hstack([original, pool_original[:, lucky]]).mean(axis=1)
        new = np.hstack([mutant, pool_mutant[:, lucky]]).mean(axis=1)
        luck += scores_verdict(list(old), list(new), higher_is_better=True).killed
        same = Survivor("same", original, mutant, pool_original, pool_mutant)
        told += bool(additions([same], pool_of(1000), higher_is_better=True, most_inputs=10))
    assert luck >= 15  # inputs picked by luck do kill
    assert told <= 3


def test_numbers_instead_of_classes() -> None:
    small, large = np.full((RUNS, 50), 0.1), np.full((RUNS, 50), 0.1)
    large[:, 10:14] = 3.0 + np.arange(RUNS)[:, None] * 0.1
    test = np.random.default_rng(0).random((RUNS, 20)) * 0.1
    found = additions([Survivor("m", test, test, small, large)], pool_of(50), higher_is_better=False)
    assert found and set(found[0].inputs) <= {1010, 1011, 1012, 1013}
    assert found[0].what.startswith("input")
    assert additions([Survivor("m", test, test, large, small)], pool_of(50), higher_is_better=False) == []


def test_many_inputs_are_named_briefly() -> None:
    test = np.tile([[1.0], [0.9], [0.8], [0.9], [0.7]], (1, 40))
    pool, wrong = np.ones((RUNS, 60)), np.zeros((RUNS, 60))
    one = Survivor("m", test, test[::-1], pool, wrong)
    found = additions([one], pool_of(60), higher_is_better=True, most_inputs=60)
    assert len(found) == 1 and len(found[0].inputs) > 10
    assert found[0].what.endswith(f"1009 and {len(found[0].inputs) - 10} more")


def test_nothing_to_do() -> None:
    assert additions([], pool_of(10), higher_is_better=True) == []
    right = np.ones((RUNS, 10))
    none = Survivor("m", right, right, np.ones((RUNS, 0)), np.ones((RUNS, 0)))
    assert additions([none], pool_of(0), higher_is_better=True) == []


def test_an_own_judge_is_asked() -> None:
    labels = np.array([0, 0, 1, 1])
    right, wrong = np.ones((RUNS, 4)), np.zeros((RUNS, 4))
    one = Survivor("m", right, right, right, wrong)

    def never(old: object, new: object):  # type: ignore[no-untyped-def]
        return scores_verdict([1.0, 1.0], [1.0, 1.0], higher_is_better=True)

    assert additions([one], pool_of(4, labels), higher_is_better=True, judge=never) == []
    found = additions([one], pool_of(4, labels), higher_is_better=True)
    assert found == [Addition("class 0", ("m",), (1000, 1001), 0)]


def test_bad_input() -> None:
    right = np.ones((RUNS, 4))
    with pytest.raises(UsageError, match="do not belong together"):
        Survivor("m", right, right[:3], right, right)
    with pytest.raises(UsageError, match="4 inputs of a pool of 7"):
        additions([Survivor("m", right, right, right, right)], pool_of(7), higher_is_better=True)


def test_of_two_classes_the_more_telling_one() -> None:
    labels = np.repeat([0, 1, 2], [10, 40, 40])
    right = np.ones((RUNS, 90))
    right[:, :8] = 0  # most of class 0
    right[:, 10:20] = 0  # a quarter of class 1
    test = np.ones((RUNS, 40))
    one = Survivor("m", test, test, np.ones((RUNS, 90)), right)
    assert [each.what for each in additions([one], pool_of(90, labels), higher_is_better=True)] == ["class 0"]


def test_the_most_inputs_allowed_are_judged_too() -> None:
    # ten inputs do not outweigh the noise of the test set
    test = np.tile([[0.99], [1.01], [1.0], [0.98], [1.0]], (1, 100))
    noisy = test + np.array([[0.1], [-0.1], [0.09], [-0.095], [0.06]])
    pool, wrong = np.ones((RUNS, 60)), np.zeros((RUNS, 60))
    one = Survivor("m", test, noisy, pool, wrong)
    for most, found in ((10, 0), (19, 19), (25, 25)):
        made = additions([one], pool_of(60), higher_is_better=True, most_inputs=most)
        assert sum(len(each.inputs) for each in made) == found, most


def test_when_every_class_is_added_nothing_is_left() -> None:
    labels = np.repeat([0, 1], 30)
    mutants = []
    for number in range(2):
        right = results(60, 0.98, 40 + number)
        right[:, labels == number] = 0
        mutants.append(survivor(f"m{number}", right, seed=5 * number))
    like_the_original = survivor("alike", results(60, 0.98, 50))
    found = additions([*mutants, like_the_original], pool_of(60, labels), higher_is_better=True)
    assert {each.what for each in found} == {"class 0", "class 1"}
