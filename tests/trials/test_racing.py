"""Trials that fall behind are given up."""

from __future__ import annotations

import math

import pytest
from trying import TINY, Project

from netmend.trials.racing import Race
from netmend.trials.trial import FINISHED, STOPPED, Rule

HIGHER = Rule("printed:val acc", True, ((10, 0.5), (20, 0.6)))


def given_up(rule: Rule, lines: list[tuple[int, str]], pattern: str = "") -> bool:
    calls: list[None] = []
    race = Race(rule, pattern, lambda: calls.append(None))
    for step, line in lines:
        race.printed(step, line)
    return bool(calls)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([(5, "val acc 0.1")], False),  # too early to say
        ([(10, "val acc 0.51")], False),
        ([(10, "val acc 0.5")], True),
        ([(15, "val acc 0.55"), (25, "val acc 0.55")], True),  # a later limit is higher
        ([(25, "val acc 0.7")], False),
        ([(25, "train acc 0.1 best val acc 0.1")], False),  # another number
        ([(25, "val acc nan")], True),
        ([(25, "epoch val_acc"), (26, "3 0.1")], True),  # in a table
        ([(5, "val acc 0.2"), (10, "val acc 0.45")], False),  # a slow start that goes on well
        ([(5, "val acc 0.2"), (10, "val acc 0.22")], True),  # too slow
        ([(8, "val acc 0.7"), (10, "val acc 0.48"), (12, "val acc 0.65")], False),  # one bad look
    ],
)
def test_printed_measure(lines: list[tuple[int, str]], expected: bool) -> None:
    assert given_up(HIGHER, lines) is expected


def test_other_measures() -> None:
    lower = Rule("printed:loss", False, ((10, 0.5),))
    assert given_up(lower, [(10, "loss 0.6")])
    assert not given_up(lower, [(10, "loss 0.4")])
    assert not given_up(Rule("printed:loss", False, ((10, math.nan),)), [(10, "loss 9")])
    own = Rule("pattern", True, ((10, 0.5),))
    assert given_up(own, [(10, "score=0.7 score=0.4")], r"score=(\S+)")
    assert not given_up(own, [(10, "score=0.4 score=0.7")], r"score=(\S+)")
    second = Rule("printed:acc #2", True, ((10, 0.5),))
    assert given_up(second, [(10, "acc 0.9 acc 0.4")])


def test_trial_is_given_up_where_it_falls_behind(project: Project) -> None:
    rule = Rule("printed:val acc", True, ((10, 0.99),))
    outcome = project.tried(TINY, rule=rule)
    assert (outcome.status, outcome.steps, outcome.exception) == (STOPPED, 10, "")
    assert outcome.series["training:loss"][-1][0] <= 10
    assert project.tried(rule=Rule("printed:val acc", True, ((10, 0.1),))).status == FINISHED


def test_loss_that_stays_not_finite(project: Project) -> None:
    program = TINY.replace("range(20)", "range(200)").replace(
        "loss.backward()", "(loss * float('nan')).backward()"
    )
    rule = Rule("printed:nothing", True, ((10, 0.1),))
    assert project.tried(program, rule=rule).status == STOPPED


def test_forks_do_not_end_a_trial(project: Project) -> None:
    program = (
        TINY
        + "import os\nif os.fork() == 0:\n    print('val acc 0.0')\n    os._exit(0)\nos.wait()\nprint('end 1')\n"
    )
    outcome = project.tried(program, rule=Rule("printed:val acc", True, ((1, 0.1),)))
    assert (outcome.status, outcome.last("printed:end")) == (FINISHED, 1)
