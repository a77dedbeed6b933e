"""Which measure counts, which way is up, and how much of the error went away."""

from __future__ import annotations

import math

import pytest

from netmend.repair.objective import Objective, choose, for_verification
from netmend.trials.trial import FAILED, FINISHED, Outcome


def outcome(status: str = FINISHED, **series: list[float]) -> Outcome:
    """Names are written with `__` for colons and `_` for blanks: printed__val_acc."""
    named = {name.replace("__", ":").replace("_", " "): values for name, values in series.items()}
    points = {name: [[float(i), value] for i, value in enumerate(values)] for name, values in named.items()}
    return Outcome(status, steps=10, series=points)


def chosen(*names: str) -> str:
    found = choose([outcome(**{name: [0.5, 0.6] for name in names})])
    assert found is not None
    return found.series


# From best to worst, as docs/repair.md lists them.
ORDER = [
    "printed__val_acc",
    "printed__test_acc",
    "evaluation__0__metric",
    "printed__acc",  # the program evaluates: it is most likely the accuracy of that
    "evaluation__0__relative",
    "printed__val_loss",
    "training__metric",
    "printed__train_acc",
    "training__relative",
    "printed__loss",
    "evaluation__0__loss",
    "printed__train_loss",
    "training__loss",
]


@pytest.mark.parametrize("first", range(len(ORDER) - 1))
def test_better_measures_are_preferred(first: int) -> None:
    """Whatever stands first wins, in whichever order it was seen."""
    rest = ORDER[first:]
    expected = ORDER[first].replace("__", ":").replace("_", " ")
    assert chosen(*rest) == expected
    assert chosen(*reversed(rest)) == expected


def test_a_score_without_a_word_on_the_data_counts_for_less_when_nothing_is_evaluated() -> None:
    assert chosen("printed__acc", "printed__val_loss") == "printed:val loss"
    assert chosen("printed__acc", "printed__val_loss", "evaluation__0__loss") == "printed:acc"
    alone = choose([outcome(printed__acc=[0.5])])
    assert alone is not None and not alone.held_out


def test_the_first_evaluation_pass_is_the_one_meant() -> None:
    assert chosen("evaluation__1__metric", "evaluation__0__metric") == "evaluation:0:metric"
    assert chosen("evaluation__1__metric", "evaluation__0__relative") == "evaluation:1:metric"


def test_plain_labels_are_preferred() -> None:
    assert chosen("printed__best_val_acc", "printed__val_acc") == "printed:val acc"
    assert chosen("printed__val_acc_#2", "printed__val_acc") == "printed:val acc"


@pytest.mark.parametrize(
    ("label", "higher"),
    [
        ("printed__val_acc", True),
        ("printed__val_loss", False),
        ("printed__val_error", False),
        ("printed__test_f1_score", True),
        ("printed__valid_perplexity", False),
        ("printed__accuracy_loss", False),  # the last word says what it is
        ("printed__loss_accuracy", True),
        ("evaluation__0__metric", True),
        ("evaluation__0__loss", False),
        ("training__metric", True),
        ("training__relative", False),
    ],
)
def test_direction(label: str, higher: bool) -> None:
    found = choose([outcome(**{label: [0.5]})])
    assert found is not None and found.higher_is_better is higher


def test_numbers_that_are_no_measure_are_left_alone() -> None:
    assert choose([outcome(printed__epoch=[1, 2], printed__seconds=[3.0], pattern=[1.0])]) is None
    assert choose([]) is None
    assert choose([outcome()]) is None


@pytest.mark.parametrize(
    ("pattern", "higher"),
    [
        (r"val acc ([0-9.]+)", True),
        (r"val_loss=([0-9.]+)", False),
        (r"valLoss: ([0-9.]+)", False),
        (r"RMSE ([0-9.]+)", False),
        (r"result ([0-9.]+)", True),  # says nothing: maximised
    ],
)
def test_the_users_pattern_comes_first(pattern: str, higher: bool) -> None:
    found = choose([outcome(printed__val_acc=[0.9])], pattern=pattern)
    assert found == Objective("pattern", higher, True)
    assert choose([], pattern=pattern, higher=not higher) == Objective("pattern", not higher, True)


def test_the_users_file() -> None:
    assert choose([], file="best_loss.txt") == Objective("file", False, True)
    assert choose([], file="result.txt") == Objective("file", True, True)
    assert choose([], file="result.txt", higher=False) == Objective("file", False, True)


def test_value_is_where_the_outcome_ended() -> None:
    objective = Objective("printed:val acc", True, True)
    assert objective.value(outcome(printed__val_acc=[0.9, 0.8])) == 0.8
    assert objective.value(outcome(FAILED, printed__val_acc=[0.9, 0.8])) is None
    assert objective.value(outcome(printed__val_loss=[0.9])) is None
    assert objective.value(outcome(printed__val_acc=[0.9, math.nan])) is None
    assert objective.value(outcome(printed__val_acc=[0.9, math.inf])) is None
    assert objective.value(outcome(printed__val_acc=[math.nan, 0.7])) == 0.7


def test_training_batches_are_noisy_so_their_last_tenth_counts() -> None:
    points = [[float(step), 1.0] for step in range(90)] + [[90.0 + i, float(i % 2)] for i in range(10)]
    assert Objective("training:loss", False, False).value(
        Outcome(FINISHED, series={"training:loss": points})
    ) == pytest.approx(0.5)


ACCURACY = Objective("printed:val acc", True, True)
LOSS = Objective("printed:val loss", False, True)
REWARD = Objective("printed:test reward", True, True)


@pytest.mark.parametrize(
    ("objective", "value", "error"),
    [
        (ACCURACY, 0.9, 0.1),
        (ACCURACY, 90.0, 10.0),
        (ACCURACY, 100.0, 0.0),
        (ACCURACY, 250.0, -250.0),  # how many are right, not a share: there is no end
        (REWARD, 250.0, -250.0),
        (REWARD, 0.5, -0.5),
        (LOSS, 0.7, 0.7),
        (LOSS, -3.0, -3.0),
        (LOSS, None, math.inf),
        (ACCURACY, None, math.inf),
    ],
)
def test_error(objective: Objective, value: float | None, error: float) -> None:
    assert objective.error(value) == pytest.approx(error)


def test_errors_share_one_scale() -> None:
    """0.9 beside 95 is 0.9 %, not 90 %."""
    assert ACCURACY.errors([0.9, 95.0, None]) == pytest.approx([99.1, 5.0, math.inf])
    assert ACCURACY.gain(0.9, 20.0) > 0 > ACCURACY.gain(20.0, 0.9)
    assert ACCURACY.errors([50.0, 150.0]) == [-50.0, -150.0]


@pytest.mark.parametrize(
    ("objective", "before", "after", "gain"),
    [
        (ACCURACY, 0.6, 0.8, 0.5),
        (ACCURACY, 60.0, 80.0, 0.5),
        (ACCURACY, 0.8, 0.6, -1.0),
        (LOSS, 2.0, 0.5, 0.75),
        (LOSS, 0.5, 2.0, -3.0),
        (LOSS, 1.0, -1.0, 2.0),  # no end: relative to its size
        (LOSS, -1.0, -2.0, 0.5),
        (REWARD, 100.0, 200.0, 0.5),
        (REWARD, -100.0, 100.0, 2.0),
        (LOSS, None, 0.5, 1.0),  # it ends well now
        (ACCURACY, 1.0, 1.0, 0.0),
    ],
)
def test_gain(objective: Objective, before: float | None, after: float, gain: float) -> None:
    assert objective.gain(before, after) == pytest.approx(gain)


def test_nothing_is_worse_than_a_training_that_failed() -> None:
    for objective in (ACCURACY, LOSS, REWARD):
        assert objective.gain(0.5, None) == objective.gain(None, None) == -math.inf


def test_words() -> None:
    for name in (
        "printed:val acc", "pattern", "file", "training:loss", "training:metric", "training:relative",
        "evaluation:0:metric", "evaluation:0:relative", "evaluation:12:loss",
    ):  # fmt: skip
        assert len(Objective(name, True, True).name) > 4 and Objective(name, True, True).short


def test_the_proof_uses_test_data_where_the_search_used_validation_data() -> None:
    both = [outcome(printed__val_acc=[0.9], printed__test_acc=[0.8], printed__test_loss=[1.0])]
    assert for_verification(ACCURACY, both) == Objective("printed:test acc", True, True)
    assert for_verification(LOSS, both) == Objective("printed:test loss", False, True)


@pytest.mark.parametrize(
    ("objective", "names"),
    [
        (ACCURACY, ("printed__val_acc", "printed__test_loss")),  # another measure
        (ACCURACY, ("printed__val_acc",)),
        (ACCURACY, ("printed__val_acc", "printed__train_acc")),  # other data, but not unseen
        (Objective("printed:test acc", True, True), ("printed__test_acc", "printed__val_acc")),
        (Objective("pattern", True, True), ("printed__test_acc", "pattern")),
        (Objective("evaluation:0:metric", True, True), ("evaluation__0__metric", "printed__test_acc")),
    ],
)
def test_otherwise_the_proof_uses_the_same_measure(objective: Objective, names: tuple[str, ...]) -> None:
    assert for_verification(objective, [outcome(**{name: [0.5] for name in names})]) == objective
