"""The whole measurement on made-up doings of a model: what is said of good, weak, odd and broken test sets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from adequacy_sample import collected

from netmend.adequacy.answers import BINARY, CLASSES, NUMBERS, answers_of, meaning_of
from netmend.adequacy.assess import assess
from netmend.adequacy.collected import Collected
from netmend.adequacy.coverage import draws, out_of_fold, surprise_range
from netmend.adequacy.result import ALIKE, LESS, UNKNOWN, Adequacy
from netmend.errors import UsageError
from netmend.report.adequacy import verdict_words

TRAIN = collected(600, 1)


def said(found: Adequacy) -> str:
    return verdict_words(found)[1]


@pytest.mark.parametrize("seed", range(4))
def test_data_of_the_same_kind_is_alike(seed: int) -> None:
    found = assess(TRAIN, collected(300, 10 + seed))
    assert {one.standing for one in found.coverages} == {ALIKE}
    assert "about as much" in said(found) and found.missing == ()
    for one in found.surprises:
        assert 0.01 < one.beyond < 0.12 and 0.4 < one.middle < 0.6


def test_missing_classes_are_named_and_cover_nothing() -> None:
    found = assess(TRAIN, collected(300, 2, classes=(0, 1, 3)))
    assert found.missing == (2, 4) and "2 classes have no test input: 2, 4" in said(found)
    assert all(one.coverage.standing == LESS and one.coverage.relative < 0.8 for one in found.surprises)
    by_name = {row.name: row for row in found.classes}
    assert by_name[2].test == 0 and by_name[2].reached is not None and by_name[2].reached < 0.15
    assert by_name[0].reached is not None and by_name[0].reached > 0.5 and by_name[0].test > 50


def test_few_inputs_are_said_to_be_few() -> None:
    found = assess(TRAIN, collected(25, 3))
    assert "25 test inputs cover less than half" in said(found)
    assert all(one.coverage.value < 0.5 * one.coverage.everything for one in found.surprises)


def test_easy_inputs_are_seen() -> None:
    test = collected(600, 4)
    centres = np.stack([test.traces[test.labels == name].mean(axis=0) for name in range(5)])
    near = np.argsort(((test.traces - centres[test.labels]) ** 2).sum(axis=1))[:200]
    found = assess(TRAIN, part(test, near))
    assert {one.coverage.standing for one in found.surprises} == {LESS}
    assert all(one.middle < 0.35 and one.beyond < 0.01 for one in found.surprises if one.name != "DSA")


def test_strange_inputs_are_beyond_what_training_shows() -> None:
    test = collected(200, 5)
    traces = test.traces + np.float32(6.0) * np.eye(8, dtype=np.float32)[7]
    found = assess(TRAIN, replace(test, traces=traces))
    assert all(one.beyond > 0.3 for one in found.surprises)
    assert said(found) == "The test set has many inputs unlike the training data"


def part(whole: Collected, places: np.ndarray) -> Collected:
    return replace(
        whole,
        traces=whole.traces[places],
        indices=whole.indices[places],
        outputs=None if whole.outputs is None else whole.outputs[places],
        labels=None if whole.labels is None else whole.labels[places],
        layers={name: rows[places] for name, rows in whole.layers.items()},
    )


def test_suggestions_name_inputs_of_the_pool_as_the_user_counts_them() -> None:
    pool = replace(collected(50, 6, labelled=False), indices=np.arange(50) * 3 + 1000)
    pool.outputs[17] = 0.0  # type: ignore[index]  # no class at all is preferred
    pool.traces[31, 7] = 50.0
    found = assess(TRAIN, collected(100, 7), pool, count=5)
    picked = {one.method: [pick.index for pick in one.inputs] for one in found.suggestions}
    assert found.source == "pool" and all(len(indices) == 5 for indices in picked.values())
    assert picked["DeepGini"][0] == picked["entropy"][0] == picked["margin"][0] == 1000 + 3 * 17
    assert picked["LSA"][0] != picked["DeepGini"][0]
    assert picked["MDSA"][0] == picked["DSA"][0] == picked["CoreSet"][0] == 1000 + 3 * 31
    assert set(picked) == {"DeepGini", "entropy", "margin", "MCP", "CoreSet", "LSA", "DSA", "MDSA"}


def test_mistakes_of_a_labelled_test_set_tell_which_order_finds_them() -> None:
    test = collected(200, 8)
    close = np.flatnonzero(np.ptp(np.sort(test.outputs, axis=1)[:, -2:], axis=1) < 0.7)  # type: ignore[type-var, arg-type]
    labels = np.argmax(test.outputs, axis=1)  # type: ignore[arg-type]
    labels[close] = (labels[close] + 1) % 5
    found = assess(TRAIN, replace(test, labels=labels))
    assert found.mistakes == len(close) > 0
    values = dict(found.found)
    assert values["margin"] > 0.9 and next(iter(values.values())) == max(values.values())
    assert found.sets[1].right == pytest.approx(1 - len(close) / 200)


def test_without_labels_classes_are_those_the_model_takes_inputs_for() -> None:
    found = assess(collected(300, 1, labelled=False), collected(100, 2, labelled=False))
    assert found.task == CLASSES and found.mistakes is None and found.found == ()
    assert sum(row.test for row in found.classes) == 100 and "no labels" in found.notes[0]


def test_the_same_question_gets_the_same_answer() -> None:
    test, pool = collected(100, 2), collected(80, 3)
    assert assess(TRAIN, test, pool) == assess(TRAIN, test, pool)
    first, second = assess(TRAIN, test), assess(TRAIN, collected(100, 9))
    assert [one.everything for one in first.coverages] == [one.everything for one in second.coverages]


# -- degenerate data ---------------------------------------------------------------------------------------------------


def test_constant_activations_cannot_be_measured_and_say_so() -> None:
    def constant(count: int) -> Collected:
        rows = np.full((count, 4), 0.1, dtype=np.float32)
        return Collected(rows, np.arange(count), rows[:, :3], np.zeros(count, dtype=int), {"a": rows})

    found = assess(constant(40), constant(10))
    assert found.spread.standing == UNKNOWN and "same with all" in found.spread.reason
    reasons = {one.name: one.reason for one in found.surprises}
    assert "one" in reasons["DSA"] and "do not vary" in reasons["LSA"]
    assert verdict_words(found)[0] in ("warn", "good")


@pytest.mark.parametrize(("train", "test"), [(1, 1), (2, 1), (1, 5), (3, 2), (5, 1)])
def test_a_handful_of_inputs_gives_an_answer_not_an_error(train: int, test: int) -> None:
    found = assess(collected(train, 1), collected(test, 2))
    assert found.sets[0].looked == train and all(one.standing != LESS for one in found.coverages)
    assert str(found).startswith("netmend")


def test_one_class_has_no_distance_surprise() -> None:
    sets = [collected(100, 1, classes=(0,)), collected(50, 2, classes=(0,))]
    for one in sets:
        one.outputs[:, 0] = 50.0  # type: ignore[index]
    found = assess(*sets)
    reasons = {one.name: one.reason for one in found.surprises}
    assert (
        "takes all training inputs for one" in reasons["DSA"] and not reasons["LSA"] and not reasons["MDSA"]
    )


def test_inputs_without_finite_numbers_are_counted_and_come_first() -> None:
    test = collected(60, 2)
    test.traces[5] = np.nan
    test.outputs[5] = np.nan  # type: ignore[index]
    test.layers["first"][5] = np.inf  # type: ignore[index]
    train = collected(200, 1)
    train.traces[0] = np.inf
    found = assess(train, test)
    assert [one.not_finite for one in found.sets] == [1, 1]
    first = {one.method: one.inputs[0].index for one in found.suggestions}
    assert {first[name] for name in ("DeepGini", "entropy", "margin", "MCP", "LSA", "DSA", "MDSA")} == {5}
    assert first["CoreSet"] != 5 and math.isfinite(found.spread.relative)
    assert "not finite" in " ".join(str(found).split())


def test_numbers_have_no_classes() -> None:
    train = collected(200, 1, outputs=None, labels=None)
    found = assess(train, collected(100, 2, outputs=None, labels=None))
    assert found.task == NUMBERS and found.classes == () and found.mistakes is None
    assert {one.method for one in found.suggestions} == {"CoreSet", "LSA", "MDSA"}
    assert [one.standing for one in found.coverages if not one.reason] == [ALIKE] * 3


# -- what outputs mean -------------------------------------------------------------------------------------------------

LOGITS = np.array([[2.0, 0.0, -1.0], [0.0, 3.0, 1.0], [1.0, 0.5, 4.0]], dtype=np.float32)
SOFTMAX = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)


def doing(outputs: object, labels: object) -> Collected:
    rows = None if outputs is None else np.asarray(outputs, dtype=np.float32)
    return Collected(
        np.zeros((3, 2), dtype=np.float32), np.arange(3), rows, None if labels is None else np.asarray(labels)
    )


@pytest.mark.parametrize("outputs", [LOGITS, SOFTMAX, np.log(SOFTMAX)])
@pytest.mark.parametrize("labels", [[0, 1, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.0, 1.0, 2.0], None])
def test_logits_probabilities_and_logarithms_mean_the_same(outputs: object, labels: object) -> None:
    one = doing(outputs, labels)
    meaning = meaning_of(one)
    answers = answers_of(one, meaning)
    assert meaning.task == CLASSES and answers.predicted.tolist() == [0, 1, 2]
    np.testing.assert_allclose(answers.probabilities, SOFTMAX, atol=1e-6)
    assert answers.right == (None if labels is None else 1.0)


@pytest.mark.parametrize(
    ("outputs", "labels", "task"),
    [
        ([[-2.0], [0.5], [3.0]], [0, 1, 1], BINARY),
        ([[0.1], [0.6], [0.9]], [0.0, 1.0, 1.0], BINARY),
        ([[0.1], [0.6], [0.9]], None, BINARY),
        ([[-2.0], [0.5], [3.0]], None, NUMBERS),
        ([[-2.0], [0.5], [3.0]], [0.3, 1.7, 2.0], NUMBERS),
        (LOGITS, [[1, 1, 0], [0, 0, 0], [1, 0, 1]], NUMBERS),  # several labels at once
        (LOGITS, [[0.5, 2.0], [1.0, 1.0], [0.0, 3.0]], NUMBERS),
        (None, [0, 1, 2], NUMBERS),
    ],
)
def test_the_task_is_told_by_labels_and_outputs(outputs: object, labels: object, task: str) -> None:
    one = doing(outputs, labels)
    assert meaning_of(one).task == task
    answers = answers_of(one, meaning_of(one))
    assert (answers.probabilities is not None) == (task != NUMBERS)
    if task == BINARY:
        assert answers.predicted.tolist() == [0, 1, 1]


def test_wrong_wishes_are_refused_with_advice() -> None:
    with pytest.raises(UsageError, match=r"label is 10.*3 classes.*count from 0"):
        answers_of(doing(LOGITS, [0, 1, 10]), meaning_of(doing(LOGITS, [0, 1, 10])))
    with pytest.raises(UsageError, match="task must be one of classes, binary, numbers, got 'sorting'"):
        meaning_of(doing(LOGITS, None), "sorting")
    with pytest.raises(UsageError, match="one output per input, the model has 3"):
        meaning_of(doing(LOGITS, None), "binary")
    with pytest.raises(UsageError, match="another shape"):
        meaning_of(doing(None, None), "classes")


def test_negative_labels_are_no_labels() -> None:
    one = doing(LOGITS, [0, -1, 2])
    assert answers_of(one, meaning_of(one)).wrong is None


# -- references --------------------------------------------------------------------------------------------------------


def test_training_inputs_are_surprising_only_when_left_out() -> None:
    from netmend.adequacy.measures.surprises import distance_surprise

    traces, classes = TRAIN.points, np.asarray(TRAIN.labels)
    assert (distance_surprise(traces, classes, traces, classes) == 0).all()
    left_out = out_of_fold(distance_surprise, traces, classes, 10, np.random.default_rng(0))
    assert (left_out > 0).all() and np.isfinite(left_out).all()


def test_samples_are_of_the_size_and_without_repetition() -> None:
    taken = draws(50, 20, 7, np.random.default_rng(0))
    assert len(taken) == 7 and all(len(set(one.tolist())) == 20 for one in taken)
    assert [one.tolist() for one in draws(5, 9, 7, np.random.default_rng(0))] == [[0, 1, 2, 3, 4]]


def test_buckets_do_not_favour_the_training_data_that_made_them() -> None:
    """Rare classes: 5 inputs decide where their buckets lie, so they would hit them better than any others."""
    ratios = []
    for seed in range(30):
        random = np.random.default_rng(seed)
        before, after = random.exponential(size=200), random.exponential(size=100)
        classes = random.choice(3, 200, p=[0.9, 0.06, 0.04])
        others = random.choice(3, 100, p=[0.9, 0.06, 0.04])
        one = surprise_range("LSC", before, classes, after, others, random)
        ratios.append(one.relative)
        assert one.standing == ALIKE
    assert abs(float(np.mean(ratios)) - 1) < 0.06
