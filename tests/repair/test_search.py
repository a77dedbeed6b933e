"""The search, with programs whose trainings are a function: nothing is started."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from world import PROGRAM, Settings, World, gives, sets

from netmend.repair import search as search_module
from netmend.repair.joint import Joint
from netmend.repair.options import Measure
from netmend.repair.repair import REPAIRS
from netmend.trials.trial import FAILED, STOPPED
from netmend.vocabulary.change import BUDGET, Change

Patch = pytest.MonkeyPatch


def settings_of(world: World) -> list[str]:
    """What the trials asked for, as "a1 b0 c0"; with the seed where it is not the program's own."""
    return [
        " ".join(f"{name}{given[name]}" for name in "abc")
        + (f" seed{given['seed']}" if given["seed"] else "")
        for given, _ in world.trials
    ]


def two_faults(given: Settings) -> float:
    return 0.5 + 0.25 * (given["a"] == 1) + 0.24 * (given["b"] == 1) - 0.1 * given["c"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_two_faults_need_two_changes(tmp_path: Path, monkeypatch: Patch, jobs: int) -> None:
    world = World(tmp_path, two_faults, [sets("c", 1), sets("a", 1), sets("b", 1)], jobs=jobs)
    search, version, best = world.search(monkeypatch)
    assert version.texts == {"train.py": "a = 1\nb = 1\nc = 0\ntrain(a=a, b=b, c=c)\n"}
    assert {part.change.cause for part in version.parts} == {"CAUSE-a", "CAUSE-b"}
    assert best.last("printed:val acc") == pytest.approx(0.99)
    assert search.stopped == "metric recovered, no faults left"
    accepted = [attempt.change.title for attempt in search.attempts if attempt.accepted]
    assert sorted(accepted) == ["a 0 → 1", "b 0 → 1"]
    assert search.attempts[0].gain == pytest.approx(-0.2) and search.attempts[0].value == pytest.approx(0.4)
    assert (tmp_path / "program" / "train.py").read_text() == PROGRAM


def test_an_unneeded_part_is_dropped(tmp_path: Path, monkeypatch: Patch) -> None:
    """The first helps a little, the second cures alone."""
    world = World(
        tmp_path,
        lambda given: 0.99 if given["b"] else 0.7 if given["a"] else 0.5,
        [sets("a", 1)],
        [sets("b", 1)],
    )
    _, version, best = world.search(monkeypatch)
    assert [part.change.title for part in version.parts] == ["b 0 → 1"]
    assert version.texts["train.py"] == PROGRAM.replace("b = 0", "b = 1")
    assert best.last("printed:val acc") == 0.99
    assert settings_of(world)[-1] == "a0 b1 c0"  # it was tried without


def test_a_needed_part_stays(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(
        tmp_path,
        lambda given: 0.99 if given["a"] and given["b"] else 0.8 if given["a"] else 0.5,
        [sets("a", 1)],
        [sets("b", 1)],
    )
    _, version, _ = world.search(monkeypatch)
    assert version.texts["train.py"] == PROGRAM.replace("a = 0\nb = 0", "a = 1\nb = 1")


def test_a_part_that_silences_a_fault_stays(tmp_path: Path, monkeypatch: Patch) -> None:
    """The measure would do without it."""

    def judge(given: Settings) -> Any:
        accuracy = 0.99 if given["b"] else 0.7 if given["a"] else 0.5
        return accuracy if given["a"] else (accuracy, "HYP-LR-HIGH")

    world = World(tmp_path, judge, [sets("a", 1)], [sets("b", 1)])
    _, version, _ = world.search(monkeypatch)
    assert version.texts["train.py"] == PROGRAM.replace("a = 0\nb = 0", "a = 1\nb = 1")


def test_certain_mistakes_stay_mended_while_the_rest_is_tried(tmp_path: Path, monkeypatch: Patch) -> None:
    """One fault hides the gain of mending the other; neither change helps alone."""
    world = World(
        tmp_path,
        lambda given: 0.99 if given["a"] and given["b"] else 0.5,
        [sets("a", 1), sets("c", 1)],
        [sets("b", 1)],
        certain=[sets("a", 1)],
    )
    _, version, best = world.search(monkeypatch)
    assert settings_of(world)[:4] == ["a0 b0 c0", "a1 b0 c0", "a0 b0 c1", "a1 b1 c0"]
    assert best.last("printed:val acc") == 0.99
    assert version.texts["train.py"] == PROGRAM.replace("a = 0\nb = 0", "a = 1\nb = 1")


def test_a_certain_mistake_whose_cure_harms_is_left(tmp_path: Path, monkeypatch: Patch) -> None:
    def judge(given: Settings) -> float:
        return 0.1 if given["a"] else 0.99 if given["b"] else 0.5

    world = World(tmp_path, judge, [sets("a", 1)], [sets("b", 1)], certain=[sets("a", 1)])
    _, version, _ = world.search(monkeypatch)
    assert version.texts["train.py"] == PROGRAM.replace("b = 0", "b = 1")


@pytest.mark.parametrize(("accuracy", "trials"), [(0.99, 1), (0.8, 2)])
def test_what_learns_well_and_shows_no_fault_is_left_in_peace(
    tmp_path: Path, monkeypatch: Patch, accuracy: float, trials: int
) -> None:
    world = World(tmp_path, lambda given: accuracy, [], [], [sets("a", 1)], healthy=True)
    _, version, _ = world.search(monkeypatch)
    assert version.parts == () and len(world.trials) == trials


def test_it_stops_when_cured(tmp_path: Path, monkeypatch: Patch) -> None:
    many = [sets("c", value) for value in range(1, 9)]
    world = World(tmp_path, lambda given: 1.0 if given["a"] else 0.5, [sets("a", 1), *many], many, many)
    search, version, _ = world.search(monkeypatch)
    assert settings_of(world) == ["a0 b0 c0", "a1 b0 c0"]
    assert len(search.attempts) == 1 and len(version.parts) == 1
    assert search.problem.spent == pytest.approx(2.0)


def test_changes_that_something_calls_for_come_before_the_others(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(tmp_path, lambda given: 0.5, [sets("a", 1)], [sets("b", 1)], [sets("c", 1)])
    search, version, _ = world.search(monkeypatch)
    assert settings_of(world)[:4] == ["a0 b0 c0", "a1 b0 c0", "a0 b1 c0", "a0 b0 c1"]
    assert version.parts == () and not any(attempt.accepted for attempt in search.attempts)
    assert search.stopped in ("no other change helped", "the budget is spent")


def test_a_suspect_is_not_asked_when_what_was_called_for_helps(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(tmp_path, lambda given: 0.99 if given["a"] else 0.5, [sets("a", 1)], [sets("b", 1)])
    world.search(monkeypatch)
    assert "a0 b1 c0" not in settings_of(world)


@pytest.mark.parametrize("budget", [1, 3, 6.5])
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_budget_is_respected(tmp_path: Path, monkeypatch: Patch, budget: float, jobs: int) -> None:
    many = [sets(name, value) for name in "abc" for value in range(1, 9)]
    world = World(tmp_path, lambda given: 0.5, many, jobs=jobs)
    search, version, _ = world.search(monkeypatch, budget)
    assert version.parts == ()
    assert search.problem.spent <= budget + 1e-9
    assert len(world.trials) <= budget
    assert search.stopped == "the budget is spent"


def test_finding_out_which_parts_are_needed_may_cost_a_little_more(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    names = [sets("a", 1), sets("b", 1), sets("c", 1)]
    world = World(tmp_path, lambda given: 0.5 + 0.15 * sum(given[name] for name in "abc"), names)
    search, _, _ = world.search(monkeypatch, 6)
    assert search.problem.spent <= 6 + 3


def test_long_trainings_do_not_break_the_budget_in_the_end(tmp_path: Path, monkeypatch: Patch) -> None:
    def judge(given: Settings) -> Any:
        accuracy = 0.5 + 0.2 * given["a"] + 0.24 * given["b"]
        return (accuracy, 400) if given["b"] else accuracy

    world = World(tmp_path, judge, [sets("a", 1)], [sets("b", 1, cost=4.0, effort=BUDGET)])
    search, _, _ = world.search(monkeypatch, 8)
    assert search.problem.spent <= 8 + 3


def test_kept_are_those_that_are_in_the_result(tmp_path: Path, monkeypatch: Patch) -> None:
    def accepted(world: World) -> set[str]:
        search, version, _ = world.search(monkeypatch)
        assert version.parts
        return {attempt.change.title for attempt in search.attempts if attempt.accepted}

    dropped = World(
        tmp_path / "dropped",
        lambda given: 0.99 if given["b"] else 0.7 if given["a"] else 0.5,
        [sets("a", 1)],
        [sets("b", 1)],
    )
    assert accepted(dropped) == {"b 0 → 1"}
    monkeypatch.setattr(search_module, "REPAIRS", SimpleNamespace(classes=lambda: {"FINE": Finer}))
    refined = World(
        tmp_path / "refined",
        lambda given: (0.1, 0.5, 0.8, 0.7)[given["a"]],
        [sets("a", 1, repair="FINE")],
    )
    assert "a 1 → 2" in accepted(refined)
    pytest.importorskip("optuna")
    joint = World(
        tmp_path / "joint",
        lambda given: 0.99 if given["a"] and given["b"] else 0.5,
        [sets("a", 1), sets("b", 1)],
    )
    assert accepted(joint) == {"a 0 → 1, b 0 → 1"}


def test_a_change_that_is_too_dear_is_left_out(tmp_path: Path, monkeypatch: Patch) -> None:
    longer = sets("a", 1, cost=10.0, effort=BUDGET)
    world = World(tmp_path, lambda given: (0.99, 1000) if given["a"] else 0.5, [longer, sets("b", 1)])
    search, version, _ = world.search(monkeypatch, 5)
    assert "a1 b0 c0" not in settings_of(world) and version.parts == ()
    world = World(tmp_path / "more", world.judge, [longer, sets("b", 1)])
    search, version, _ = world.search(monkeypatch, 15)
    assert len(version.parts) == 1
    assert search.problem.spent == pytest.approx(11.0)


def test_the_trial_is_the_intervention_and_the_result_the_patch(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(tmp_path, lambda given: 0.99 if given["a"] else 0.5, [sets("a", 1, force=True)])
    _, version, best = world.search(monkeypatch)
    texts = [dict(trial.texts).get("train.py", "") for _, trial in world.trials]
    assert "train(a=1, b=b, c=c)" in texts[1] and "a = 0" in texts[1]
    assert "a = 1" in texts[2] and "train(a=a, b=b, c=c)" in texts[2]
    assert version.texts == {"train.py": PROGRAM.replace("a = 0", "a = 1")}
    assert best.root.endswith("program") and "a = 1" in (Path(best.root) / "train.py").read_text()


def test_a_patch_that_does_not_do_the_same_gives_way_to_the_intervention(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """The constant is overwritten below; only the call itself can be changed."""
    source = "a = 0\nb = 0\nc = 0\nif True:\n    a = b\ntrain(a=a, b=b, c=c)\n"
    world = World(
        tmp_path, lambda given: 0.99 if given["a"] else 0.5, [sets("a", 1, force=True)], source=source
    )
    _, version, best = world.search(monkeypatch)
    assert version.texts == {"train.py": source.replace("a=a", "a=1")}
    assert best.last("printed:val acc") == 0.99


def test_arguments_are_changed_where_they_hold_the_value(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(
        tmp_path,
        lambda given: 0.99 if given["arguments"] == ("--lr", "0.1") else 0.5,
        [gives("--lr", "0.1")],
        arguments=("--lr", "10"),
    )
    _, version, _ = world.search(monkeypatch)
    assert version.texts == {} and version.current_arguments == ("--lr", "0.1")
    assert [trial.target.arguments for _, trial in world.trials] == [("--lr", "10"), ("--lr", "0.1")]


@pytest.mark.parametrize(("elsewhere", "kept"), [(0.6, True), (0.5, False)])
def test_a_small_gain_has_to_hold_with_another_seed(
    tmp_path: Path, monkeypatch: Patch, elsewhere: float, kept: bool
) -> None:
    def judge(given: Settings) -> float:
        return 0.5 if not given["a"] else elsewhere if given["seed"] else 0.6

    world = World(tmp_path, judge, [sets("a", 1)])
    _, version, _ = world.search(monkeypatch)
    assert bool(version.parts) is kept
    assert [text for text in settings_of(world) if "seed" in text] == ["a0 b0 c0 seed101", "a1 b0 c0 seed101"]


def test_a_clear_gain_needs_no_other_seed(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(tmp_path, lambda given: 0.9 if given["a"] else 0.5, [sets("a", 1)])
    _, version, _ = world.search(monkeypatch)
    assert version.parts and not any("seed" in text for text in settings_of(world))


def test_the_better_of_two_is_taken(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(tmp_path, lambda given: {0: 0.5, 1: 0.75, 2: 0.9}[given["a"]], [sets("a", 1), sets("a", 2)])
    _, version, _ = world.search(monkeypatch)
    assert version.texts["train.py"].startswith("a = 2\n")


def test_what_was_tried_is_not_tried_again(tmp_path: Path, monkeypatch: Patch) -> None:
    same = sets("a", 1)
    world = World(tmp_path, lambda given: 0.5, [same, same], [same, sets("b", 1)], [same])
    world.search(monkeypatch)
    assert len(set(settings_of(world))) == len(world.trials)


def test_a_program_that_crashes(tmp_path: Path, monkeypatch: Patch) -> None:
    """There is no measure until something runs; then that is what counts."""
    world = World(
        tmp_path,
        lambda given: None if not given["a"] else 0.98 if given["b"] else 0.8,
        [sets("c", 1), sets("a", 1), sets("b", 1)],
    )
    search, version, best = world.search(monkeypatch)
    assert search.problem.baseline is not None and search.problem.baseline.status == FAILED
    assert version.texts["train.py"] == "a = 1\nb = 1\nc = 0\ntrain(a=a, b=b, c=c)\n"
    assert best.last("printed:val acc") == 0.98
    assert search.attempts[0].status == FAILED and search.attempts[0].gain < 0


def test_what_fails_or_is_given_up_is_not_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    def judge(given: Settings) -> Any:
        return None if given["a"] else STOPPED if given["b"] else math.nan if given["c"] else 0.5

    world = World(tmp_path, judge, [sets("a", 1), sets("b", 1), sets("c", 1)])
    search, version, best = world.search(monkeypatch)
    assert version.parts == () and best.last("printed:val acc") == 0.5
    assert [attempt.status for attempt in search.attempts[:3]] == [FAILED, STOPPED, "finished"]
    assert all(attempt.gain < 0 for attempt in search.attempts)


def test_trials_may_be_given_up_but_not_where_more_steps_are_the_point(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    world = World(
        tmp_path,
        lambda given: 0.5,
        [sets("a", 1), sets("b", 1, cost=3.0), sets("c", 1, effort=BUDGET)],
    )
    world.search(monkeypatch)
    rules = {text: trial.rule for text, (_, trial) in zip(settings_of(world), world.trials, strict=True)}
    rule = rules["a1 b0 c0"]
    assert rule is not None and rule.series == "printed:val acc" and rule.higher_is_better
    assert all(step >= 40 and limit > 0.5 for step, limit in rule.limits)
    assert rules["a0 b0 c0"] is rules["a0 b1 c0"] is rules["a0 b0 c1"] is None


def test_nothing_recorded_nothing_changed(tmp_path: Path, monkeypatch: Patch) -> None:
    world = World(tmp_path, lambda given: 0.5, [sets("a", 1)], unseen=True)
    search, version, _ = world.search(monkeypatch)
    assert version.parts == () and len(world.trials) == 1
    assert "nothing was recorded" in search.stopped


def test_changes_that_help_only_together(tmp_path: Path, monkeypatch: Patch) -> None:
    pytest.importorskip("optuna")
    world = World(
        tmp_path,
        lambda given: 0.99 if given["a"] and given["b"] and not given["c"] else 0.5 - 0.01 * given["a"],
        [sets("a", 1), sets("b", 1), sets("c", 1)],
    )
    search, version, best = world.search(monkeypatch)
    assert best.last("printed:val acc") == 0.99
    assert version.texts["train.py"] == PROGRAM.replace("a = 0\nb = 0", "a = 1\nb = 1")
    assert search.problem.spent <= 20


def test_without_optuna_single_changes_are_still_found(tmp_path: Path, monkeypatch: Patch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    world = World(tmp_path, lambda given: 0.5, [sets("a", 1), sets("b", 1)])
    search, version, _ = world.search(monkeypatch)
    assert len(search.attempts) == 2 and version.parts == () and search.stopped == "no other change helped"


class Finer:
    """A repair that knows neighbouring values: one more, each time."""

    def refine(self, case: Any, change: Any) -> list[Any]:
        from world import View

        root = case.trace.root
        text = (Path(root) / "train.py").read_text()
        now = int(text.partition("a = ")[2].partition("\n")[0])
        made = sets("a", now + 1, old=now, repair="FINE")(View(root, text, ()))
        return [] if made is None else [made]


def test_neighbouring_values_are_tried_as_long_as_they_help(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(search_module, "REPAIRS", SimpleNamespace(classes=lambda: {"FINE": Finer}))
    values = {0: 0.1, 1: 0.5, 2: 0.7, 3: 0.85, 4: 0.84}
    world = World(tmp_path, lambda given: values[given["a"]], [sets("a", 1, repair="FINE")])
    _, version, best = world.search(monkeypatch)
    assert settings_of(world)[:5] == [f"a{value} b0 c0" for value in range(5)]
    assert version.texts == {"train.py": PROGRAM.replace("a = 0", "a = 3")}
    assert best.last("printed:val acc") == 0.85
    (part,) = version.parts  # one part from the first value to the last
    assert part.change.title == "a 0 → 3"
    nothing = version.without(0)
    assert nothing is not None and nothing.texts == {}


def test_every_repair_that_refines_can(tmp_path: Path) -> None:
    for unit in REPAIRS.classes().values():
        assert not hasattr(unit, "refine") or callable(unit.refine)


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_same_outcomes_make_the_same_search(tmp_path: Path, monkeypatch: Patch, jobs: int) -> None:
    def judge(given: Settings) -> Any:
        score = 0.3 + 0.05 * given["a"] + 0.1 * (given["b"] == 3) * given["a"] - 0.02 * given["c"]
        return None if given["c"] == 2 else min(score, 1.0)

    changes = [sets(name, value) for value in (1, 2, 3) for name in "abc"]
    seen = []
    for number in range(2):
        world = World(tmp_path / str(number), judge, changes[:3], changes[3:6], changes[6:], jobs=jobs)
        search, version, best = world.search(monkeypatch)
        tried = [(a.change.title, a.status, a.value, a.gain, a.cost, a.accepted) for a in search.attempts]
        seen.append((tried, version.texts, best.series, search.stopped, search.problem.spent))
    assert seen[0] == seen[1]


def test_a_second_search_reads_what_the_first_has_run(tmp_path: Path, monkeypatch: Patch) -> None:
    changes = [sets("c", 1), sets("a", 1), sets("b", 1)]
    first = World(tmp_path, two_faults, changes)
    search, version, _ = first.search(monkeypatch)
    again = World(tmp_path, two_faults, changes)
    other, same, _ = again.search(monkeypatch)
    assert again.trials == []
    assert same.texts == version.texts and other.problem.spent == search.problem.spent
    assert [a.change.title for a in other.attempts] == [a.change.title for a in search.attempts]


@pytest.mark.parametrize(
    "measure", [Measure(), Measure(pattern="val acc ([0-9.]+)"), Measure(file="score.txt")]
)
def test_a_measure_that_the_user_names_is_kept(tmp_path: Path, monkeypatch: Patch, measure: Measure) -> None:
    """Where a class is never predicted another measure is chosen, but never against the user."""
    chosen: list[Any] = []

    def for_rare_classes(objective: Any, outcome: Any) -> Any:
        chosen.append(objective)
        return objective

    monkeypatch.setattr(search_module, "for_rare_classes", for_rare_classes)
    World(tmp_path, lambda given: (0.9, "DAT-IMBALANCE"), measure=measure).search(monkeypatch)
    assert bool(chosen) == (measure == Measure())


def test_with_many_trainings_left_more_knobs_are_combined() -> None:
    changes = [
        Change("R", f"C{name}", f"{name} {value}", (), knob=name, cost=cost, effort=effort)
        for name, cost, effort in [*((name, 1.0, 2) for name in "abcdefghij"), ("longer", 4.0, BUDGET)]
        for value in (1, 2)
    ]
    few, many = Joint(changes, [], trainings=10), Joint(changes, [], trainings=60)
    assert len(few._options) == 4 and len(many._options) == 8
    assert "longer" in Joint(changes[-4:], [], trainings=60)._options
    assert "longer" not in Joint(changes[-4:], [], trainings=30)._options
