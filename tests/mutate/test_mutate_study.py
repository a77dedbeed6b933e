"""Judging mutants without training any: originals and mutants made of random numbers with a known difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from netmend.mutate.additions import Survivor
from netmend.mutate.advice import lacking, lined_up
from netmend.mutate.choice import coarse, estimate, spread, steps
from netmend.mutate.examined import Examined
from netmend.mutate.interim_analyses import Looks
from netmend.mutate.judging import NO_EFFECT, Judge
from netmend.mutate.laboratory import Run, seeds_of
from netmend.mutate.magnitude import Knob, Scale
from netmend.mutate.mutation import Mutation
from netmend.mutate.options import PROFILES, MutateOptions
from netmend.mutate.scoring import COUNTED, CRASHED, EQUIVALENT, standing_of
from netmend.mutate.test_sets import TRAINING, Subset, TestSet
from netmend.mutate.verdicts import CRASH
from netmend.trials.trial import FAILED, FINISHED, Outcome

INPUTS = 400


def run(accuracy: float, seed: int, losses: float = 0.0, few: bool = False) -> Run:
    """A training whose model is right with some probability, on training data and on the test set."""
    draw = np.random.default_rng(seed)
    labels = np.arange(INPUTS) % 4
    arrays: dict[str, np.ndarray] = {}
    for name in (TRAINING, "test"):
        right = draw.random(INPUTS) < accuracy
        if few:  # only class 3 suffers
            right = np.where(labels == 3, draw.random(INPUTS) < 0.1, draw.random(INPUTS) < 0.9)
        arrays |= {f"{name}/right": right, f"{name}/label": labels}
    meta = {"higher_is_better": True, "sets": {TRAINING: {}, "test": {}}}
    series = {"training:loss": [[0, losses], [1, float(seed)]]}
    return Run(Outcome(FINISHED, series=series), Examined(arrays, meta))


class Pretended:
    """Instead of a laboratory: what a mutant scores is told by its title."""

    subsets = (Subset("weak", "test", "classes", (0.0, 1.0, 2.0)),)

    def __init__(self) -> None:
        self.trained: list[tuple[str, int]] = []

    def mutant(self, mutation: Mutation, seed: int) -> Run:
        self.trained.append((mutation.title, seed))
        if mutation.title == "crash":
            return Run(Outcome(FAILED, exception="ValueError: shapes"), None)
        if mutation.title == "nothing":
            return run(0.9, seed)
        if mutation.title == "class 3":
            return run(0.9, seed + 7, 1.0, few=True)
        drop = 0.0 if mutation.value is None else mutation.value
        return run(0.9 - drop, seed + 7, 1.0)

    def index(self, part: Subset, examined: Examined) -> Any:
        return part.index(examined.labels(part.of), examined.inputs(part.of))

    def score(self, run: Run, test: str, mutant: str = "") -> float:
        if run.examined is None:
            return float("nan")
        if test == "weak":
            return run.examined.score("test", mutant, self.index(self.subsets[0], run.examined))
        return run.examined.score(test, mutant)


def judge() -> tuple[Judge, Pretended]:
    seeds = seeds_of(5)
    laboratory = Pretended()
    originals = [run(0.9, seed) for seed in seeds]
    return Judge(laboratory, originals, seeds, Looks((3, 5)), (TRAINING, "test", "weak")), laboratory  # type: ignore[arg-type]


def mutation(title: str, value: float | None = None) -> Mutation:
    return Mutation("M1", "HYP-LR-LOW", title, (), value=value)


def test_a_bad_mutant_is_killed_after_few_trainings() -> None:
    judging, laboratory = judge()
    trained = judging.single(mutation("bad", 0.5))
    assert all(verdict.killed for verdict in trained.verdicts.values())
    assert len(laboratory.trained) <= 5 and laboratory.trained[0] == ("bad", 0)
    assert standing_of(trained.verdicts[TRAINING], judging.triviality(trained)) == COUNTED
    assert 0.4 < judging.triviality(trained) < 0.7


def test_a_mutant_like_the_original_survives() -> None:
    judging, _ = judge()
    trained = judging.single(mutation("as good", 0.0))
    assert not any(verdict.killed for verdict in trained.verdicts.values())
    assert standing_of(trained.verdicts[TRAINING], judging.triviality(trained)) == EQUIVALENT


def test_a_mutant_that_trains_exactly_alike_is_trained_once() -> None:
    judging, laboratory = judge()
    trained = judging.single(mutation("nothing"))
    assert len(laboratory.trained) == 1 and not trained.has_effect
    assert {verdict.reason for verdict in trained.verdicts.values()} == {NO_EFFECT}


def test_a_crash_is_a_class_of_its_own() -> None:
    judging, laboratory = judge()
    trained = judging.single(mutation("crash"))
    assert len(laboratory.trained) == 2 and trained.crash == "ValueError: shapes"
    assert {verdict.reason for verdict in trained.verdicts.values()} == {CRASH}
    assert standing_of(trained.verdicts[TRAINING], 0.0) == CRASHED


def test_a_set_without_the_class_that_suffers_misses_it() -> None:
    judging, _ = judge()
    trained = judging.single(mutation("class 3"))
    killed = {test: verdict.killed for test, verdict in trained.verdicts.items()}
    assert killed == {TRAINING: True, "test": True, "weak": False}


def test_the_mildest_strength_is_found_and_no_value_trained_twice() -> None:
    judging, laboratory = judge()
    scale = Scale(0.0, 0.8, 0.1)
    knob = Knob("M1", "accuracy lost", scale, lambda value: mutation(f"minus {value:g}", value))
    made: list[Any] = []
    found = judging.turned(knob, made.append)
    assert found[TRAINING].killed is not None and found[TRAINING].killed <= 0.2
    assert found[TRAINING].survived < found[TRAINING].killed
    assert len(laboratory.trained) == len(set(laboratory.trained))
    assert len(made) == len({trained.mutation.title for trained in made})
    assert all(set(trained.verdicts) == {TRAINING, "test", "weak"} for trained in made)


def test_a_strength_that_the_training_data_does_not_notice_is_not_searched() -> None:
    judging, laboratory = judge()
    knob = Knob("M1", "nothing", Scale(0.0, 1.0, 0.1), lambda value: mutation("as good", 0.0))
    found = judging.turned(knob, lambda trained: None)
    assert found[TRAINING].killed is None and found["test"].tried == ()
    assert len(laboratory.trained) <= 5


def test_the_estimate_is_from_the_first_to_the_last_look() -> None:
    scales = [Scale(0.0, 100.0, 25.0), Scale(0.1, 1e-5, 10.0, logarithmic=True)]
    cost = estimate(3, 4, scales, 2, PROFILES["quick"], 2.0, 2)
    assert [steps(scale) for scale in scales] == [2, 2]
    assert cost.least == 5 + 3 * (4 + 2)
    assert cost.most == 5 + 1 + 5 * (4 + 2 * (1 + 3))
    assert cost.least_seconds == 24.0 and cost.most_seconds == 66.0


def test_profiles_choose_from_the_mildest_to_the_strongest() -> None:
    assert spread(list("abcde"), 2) == ["a", "e"] and spread(list("abcde"), 3) == ["a", "c", "e"]
    assert spread(list("ab"), 4) == ["a", "b"] and spread(list("abc"), None) == ["a", "b", "c"]
    assert coarse(Scale(0, 100, 5), 2).precision == 25 and coarse(Scale(0, 100, 5), None).precision == 5
    assert coarse(Scale(0, 10, 5), 2).precision == 5
    logarithmic = coarse(Scale(1e-4, 1.0, 2.0, logarithmic=True), 2)
    assert logarithmic.precision == pytest.approx(10.0)


def test_seeds_begin_with_the_programs_own_and_differ_between_repetitions() -> None:
    assert seeds_of(3) == (0, 101, 102)
    drawn = [set(seeds_of(20, repetition)) for repetition in range(5)]
    assert sum(map(len, drawn)) == len(set().union(*drawn))


def test_bad_profiles_are_told() -> None:
    from netmend.errors import UsageError

    with pytest.raises(UsageError, match="quick, standard, full"):
        MutateOptions(profile="slow").checked()
    assert replace(MutateOptions(), profile="full").checked().how_much.singles is None
    assert TestSet("a").as_data()["kind"] == "program"


def test_data_that_differs_between_seeds_lines_up_by_class() -> None:
    def of(labels: list[int], digest: str) -> Examined:
        arrays = {"t/right": np.ones(len(labels), dtype=bool), "t/label": np.array(labels)}
        return Examined(arrays, {"sets": {"t": {"digest": digest}}})

    orders, classes = lined_up([of([1, 0, 1, 1], "a"), of([0, 0, 1, 1], "b")], "t")
    assert orders is not None and [order.tolist() for order in orders] == [[1, 0, 2], [0, 2, 3]]
    assert classes is not None and classes.tolist() == [0, 1, 1]
    plain = [Examined({"t/error": np.ones(3)}, {"sets": {"t": {"digest": digest}}}) for digest in "ab"]
    assert lined_up(plain, "t") == (None, None)
    same, none = lined_up([plain[0], plain[0]], "t")
    assert same is not None and same[0].tolist() == [0, 1, 2] and none is None


def test_classes_that_a_set_lacks_altogether_come_first() -> None:
    ones = np.ones((5, 4))
    only_three = np.array([[1.0, 1.0, 0.0, 0.0]] * 5)
    dead = Survivor("dead", ones, ones, ones, only_three)
    alive = Survivor("alive", ones, ones, ones, ones)
    labels, numbers = np.array([0, 1, 3, 3]), np.array([7, 8, 9, 10])
    (made,), left = lacking([dead, alive], labels, {0.0, 1.0}, numbers, True)
    assert made.what.startswith("class 3") and made.kills == ("dead",) and made.inputs == (9, 10)
    assert [each.name for each in left] == ["alive"] and left[0].original.shape == (5, 6)
    assert lacking([dead], labels, {0.0, 1.0, 3.0}, numbers, True) == ([], [dead])
    assert lacking([dead], None, set(), numbers, True) == ([], [dead])
