"""The search, with programs whose trainings are a function: nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from neutral_world import PROGRAM, Settings, World, sets, sets_of, settings_of

from netmend.errors import UsageError
from netmend.neutral.neutrality import FAILED, GIVEN_UP, KEPT, OPEN, SAME, WORSE
from netmend.neutral.versions import with_change
from netmend.program.text.positions import Lines
from netmend.repair.options import Budget
from netmend.repair.version import Version
from netmend.vocabulary.change import Change, FileEdit

NOISE = {0: 0.0, 101: 0.01, 102: -0.01}


def two_ways(given: Settings) -> float:
    """Either `a`, or `b` and `c` together, makes it good."""
    good = given["a"] == 1 or (given["b"] == 1 and given["c"] == 1)
    halfway = given["b"] == 1
    return (0.95 if good else 0.7 if halfway else 0.5) + NOISE[given["seed"]]


def test_alternatives_are_the_sets_that_reach_the_best_and_minimal_ones_are_marked(tmp_path: Path) -> None:
    found = World(tmp_path, two_ways, [sets("a", 1), sets("b", 1), sets("c", 1)]).analyse()
    assert found.goal.kind == "best" and found.goal.value == pytest.approx(0.95)
    assert set(sets_of(found, minimal=True)) == {"a", "b+c"}
    assert {"a+b", "a+c", "a+b+c"} <= set(sets_of(found))
    both = next(one for one in found.alternatives if one.knobs == ("a", "b", "c"))
    contained = {found.node(number).knobs for number in both.contains}
    assert {("a",), ("b", "c")} <= contained and not both.minimal
    assert [one.minimal for one in found.alternatives] == sorted(
        (one.minimal for one in found.alternatives), reverse=True
    )


def test_differences_are_taken_against_the_program_as_it_is(tmp_path: Path) -> None:
    """`c` only helps after `b`: the alternative is both, though its parent differs by one."""
    found = World(tmp_path, two_ways, [sets("b", 1), sets("c", 1)]).analyse()
    (best,) = found.minimal
    node = found.node(best.nodes[0])
    assert best.knobs == ("b", "c") and best.causes == ("CAUSE-b", "CAUSE-c")
    assert node.depth == 2 and node.lines == 2
    assert node.change is not None and node.change.knob == "c"
    assert "-b = 0\n-c = 0\n+b = 1\n+c = 1\n" in node.patch


def test_what_turns_out_not_to_be_needed_is_taken_back(tmp_path: Path) -> None:
    """`a = 2` is offered only where `b` was changed, but does it alone."""

    def judge(given: Settings) -> float:
        return {0: 0.5, 2: 0.95}[given["a"]] + 0.1 * given["b"] * (given["a"] == 0) + NOISE[given["seed"]]

    def after_b(root: str, text: str) -> list[Change]:
        return sets("a", 2)(root, text) if "b = 1" in text else []

    found = World(tmp_path, judge, [after_b, sets("b", 1)]).analyse()
    assert sets_of(found, minimal=True) == ["a"] and "a+b" in sets_of(found)
    node = found.node(found.minimal[0].nodes[0])
    assert node.titles == ("a 0 → 2",) and node.depth == 1 and node.change is not None
    assert node.change.title == "taken back: b 0 → 1" and node.lines == 1


def test_what_waits_to_be_tried_is_tried_where_it_may_be_all_that_is_needed(tmp_path: Path) -> None:
    """The budget of the first depth ends before `a = 9`; after `b` it is tried early, and then alone."""

    def judge(given: Settings) -> float:
        good = 0.45 if given["a"] == 9 else 0.001 * given["a"]
        return 0.5 + good + 0.02 * given["b"] * (given["a"] != 9) + NOISE[given["seed"]]

    def values(root: str, text: str) -> list[Change]:
        return sets("a", *((9,) if "b = 1" in text else range(1, 10)))(root, text)

    found = World(tmp_path, judge, [sets("b", 1), values]).analyse(20)
    assert sets_of(found, minimal=True) == ["a"]


def test_what_goes_back_is_no_difference_and_no_program_is_trained_twice(tmp_path: Path) -> None:
    world = World(tmp_path, lambda given: 0.5 + NOISE[given["seed"]], [sets("a", 0, 1, 2), sets("b", 0, 1)])
    found = world.analyse(depth=4)
    programs = [tuple(sorted(settings_of(node).items())) for node in found.nodes]
    assert len(set(programs)) == len(programs) == 6
    trained = [tuple(sorted(given.items())) for given in world.trials]
    assert len(set(trained)) == len(trained)
    for node in found.nodes:
        changed = tuple(name for name, value in sorted(settings_of(node).items()) if value)
        assert node.knobs == changed


def test_two_changes_of_one_thing_are_one(tmp_path: Path) -> None:
    ladder = {0: 0.5, 1: 0.7, 2: 0.9}

    def step(root: str, text: str) -> list[object]:
        now = int(text.partition("a = ")[2].partition("\n")[0])
        return list(sets("a", min(now + 1, 2))(root, text))

    world = World(tmp_path, lambda given: ladder[given["a"]] + NOISE[given["seed"]], [step])  # type: ignore[list-item]
    found = world.analyse()
    (best,) = found.alternatives
    node = found.node(best.nodes[0])
    assert best.knobs == ("a",) and node.titles == ("a 0 → 2",) and node.depth == 2 and node.lines == 1


def test_up_and_further_down_mends_what_down_mends(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    version = Version({"train.py": "lr = 0.1\n"}, ())
    for old, new, cause in (("0.1", "1.0", "LOW"), ("1.0", "0.01", "HIGH")):
        program.write_text(f"lr = {old}\n")
        edit = FileEdit(str(program), Lines(program.read_text()).edit(5, 5 + len(old), new))
        made = with_change(
            version,
            Change("N", cause, f"rate {old} → {new}", (edit,), knob="lr"),
            str(tmp_path),
            str(tmp_path),
        )
        assert made is not None
        version = made
    (part,) = version.parts
    assert (part.change.title, part.change.cause) == ("rate 0.1 → 0.01", "HIGH")
    assert version.texts == {"train.py": "lr = 0.01\n"}


def test_a_budget_of_time(tmp_path: Path) -> None:
    """One training takes a second; two run at once."""
    many = [sets(name, *range(1, 9)) for name in "abc"]
    world = World(tmp_path, lambda given: 0.5 + NOISE[given["seed"]], many, jobs=2)
    found = world.analyse(Budget(None, 10.0))
    assert 12 <= len(world.trials) <= 21 and found.stopped == "the budget is spent"


def test_bad_changes_get_one_seed_and_near_ones_all(tmp_path: Path) -> None:
    def judge(given: Settings) -> float | None:
        level = {0: 0.5, 1: 0.2, 2: 0.55, 3: None}[given["a"]]
        return None if level is None else level + NOISE[given["seed"]]

    found = World(tmp_path, judge, [sets("a", 1, 2, 3)]).analyse(depth=1)
    by_setting = {settings_of(node)["a"]: node for node in found.nodes}
    assert (by_setting[1].status, len(by_setting[1].values)) == (GIVEN_UP, 1)
    assert (by_setting[2].status, len(by_setting[2].values)) == (KEPT, 3)
    assert (by_setting[3].status, by_setting[3].note) == (FAILED, "ValueError: no")
    assert by_setting[3].mean is None


def test_a_lucky_first_seed_is_found_out(tmp_path: Path) -> None:
    def judge(given: Settings) -> float:
        if given["a"] == 1:
            return 0.6 if given["seed"] == 0 else 0.3
        return 0.5 + NOISE[given["seed"]]

    found = World(tmp_path, judge, [sets("a", 1)]).analyse(depth=1)
    assert found.nodes[1].status in (WORSE, GIVEN_UP) and found.nodes[1].values[0] == 0.6


def test_within_noise_is_as_good_and_beyond_is_not(tmp_path: Path) -> None:
    """Standard deviation 0.01 on both sides, three seeds: the standard error of the difference is 0.0082."""

    def judge(given: Settings) -> float:
        return {0: 0.5, 1: 0.493, 2: 0.49}[given["a"]] + NOISE[given["seed"]]

    found = World(tmp_path, judge, [sets("a", 1, 2)]).analyse(depth=1)
    assert [node.status for node in found.nodes[1:]] == [KEPT, WORSE]
    assert found.nodes[1].spread == pytest.approx(0.01)


def test_a_change_without_effect_is_no_alternative(tmp_path: Path) -> None:
    found = World(tmp_path, lambda given: 0.5, [sets("a", 1)], visible=False).analyse()
    assert found.nodes[1].status == SAME and found.alternatives == ()


def test_a_given_value_has_to_be_reached(tmp_path: Path) -> None:
    def judge(given: Settings) -> float:
        return {0: 0.5, 1: 0.89, 2: 0.91}[given["a"]] + NOISE[given["seed"]]

    found = World(tmp_path, judge, [sets("a", 1, 2)]).analyse(like=0.9, depth=1)
    assert found.goal.kind == "like"
    assert [settings_of(found.node(number))["a"] for one in found.alternatives for number in one.nodes] == [2]


def test_lower_is_better_too(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        lambda given: {0: 2.0, 1: 0.3, 2: 5.0}[given["a"]] + NOISE[given["seed"]],
        [sets("a", 1, 2)],
        higher=False,
    )
    found = world.analyse(depth=1)
    assert found.goal.value == pytest.approx(0.3)
    assert [found.node(one.nodes[0]).titles for one in found.alternatives] == [("a 0 → 1",)]
    assert found.nodes[2].status == GIVEN_UP


def test_a_known_fix_is_the_goal_and_what_reaches_it_is_not_followed_up(tmp_path: Path) -> None:
    fix = tmp_path / "good.py"
    fix.write_text(PROGRAM.replace("a = 0", "a = 1"))
    world = World(tmp_path, two_ways, [sets("a", 1), sets("b", 1), sets("c", 1)])
    found = world.analyse(fix=fix)
    assert found.goal.kind == "fix" and found.goal.value == pytest.approx(0.95)
    assert set(sets_of(found, minimal=True)) == {"a", "b+c"}
    children = [node for node in found.nodes if node.parent is not None]
    reached = {number for one in found.alternatives for number in one.nodes}
    assert not any(node.parent in reached for node in children)


def test_a_fix_that_fails_ends_the_search(tmp_path: Path) -> None:
    fix = tmp_path / "good.py"
    fix.write_text(PROGRAM.replace("a = 0", "a = 9"))
    world = World(tmp_path, lambda given: None if given["a"] == 9 else 0.5, [sets("b", 1)])
    found = world.analyse(fix=fix)
    assert found.goal.value is None and found.alternatives == () and len(found.nodes) == 1
    assert "known fix" in found.stopped


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "no such file"), ("a = (", "not Python"), ("# the same\n" + PROGRAM, "same program")],
)
def test_a_fix_has_to_be_another_program(tmp_path: Path, text: str | None, words: str) -> None:
    fix = tmp_path / "good.py"
    if text is not None:
        fix.write_text(text)
    with pytest.raises(UsageError, match=words):
        World(tmp_path, two_ways, []).analyse(fix=fix)


@pytest.mark.parametrize(
    "options",
    [{"seeds": 0}, {"width": 0}, {"depth": 0}, {"like": float("nan")}, {"like": 1.0, "fix": Path("x")}],
)
def test_senseless_choices_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        World(tmp_path, two_ways, []).analyse(**options)


@pytest.mark.parametrize("budget", [3, 5, 9, 14, 40])
@pytest.mark.parametrize("jobs", [1, 3])
def test_the_budget_is_kept(tmp_path: Path, budget: float, jobs: int) -> None:
    many = [sets(name, *range(1, 9)) for name in "abc"]
    world = World(tmp_path, lambda given: 0.5 + 0.001 * given["a"] + NOISE[given["seed"]], many, jobs=jobs)
    found = world.analyse(budget)
    assert found.trainings == len(world.trials) <= max(3, budget)
    assert found.stopped == "the budget is spent" and (found.untried > 0 or budget < 4)
    if budget >= 9:
        assert any(node.status == KEPT for node in found.nodes[1:])


def test_longer_trainings_cost_more(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        lambda given: (0.5 + NOISE[given["seed"]], 500) if given["a"] else 0.5,
        [sets("a", 1, cost=5.0)],
    )
    found = world.analyse(10, seeds=1, depth=1)
    assert len(found.nodes) == 2 and found.nodes[1].cost == 5 and found.trainings == 6
    assert len(world.analyse(5, seeds=1, depth=1).nodes) == 1


def test_only_the_best_are_expanded(tmp_path: Path) -> None:
    """All of them are as good as the program; of each thing the best value comes first."""

    def judge(given: Settings) -> float:
        return 0.5 + 0.02 * given["a"] + 0.1 * given["b"] + NOISE[given["seed"]]

    found = World(tmp_path, judge, [sets("a", 1, 2, 3), sets("b", 1, 2)]).analyse(width=2, depth=2)
    followed = [node.titles for node in found.nodes if node.expanded and node.depth == 1]
    assert followed == [("a 0 → 3",), ("b 0 → 2",)]


def test_a_program_that_crashes(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        lambda given: 0.9 + NOISE[given["seed"]] if given["a"] else None,
        [sets("a", 1), sets("b", 1)],
    )
    found = world.analyse()
    assert found.original.mean is None and sets_of(found, minimal=True) == ["a"]
    assert found.nodes[2].status == FAILED


def test_an_interrupted_search_keeps_what_it_knows_and_goes_on_later(tmp_path: Path) -> None:
    offers = [sets("a", 1), sets("b", 1), sets("c", 1)]
    whole = World(tmp_path / "whole", two_ways, offers).analyse()
    world = World(tmp_path / "parts", two_ways, offers, interrupt_after=9)
    first = world.analyse()
    assert "interrupted" in first.stopped and 1 < len(first.nodes) < len(whole.nodes)
    assert first.original.values == whole.original.values
    world.interrupt_after = None
    again = world.analyse()
    assert [(node.titles, node.values, node.status) for node in again.nodes] == [
        (node.titles, node.values, node.status) for node in whole.nodes
    ]
    assert again.alternatives == whole.alternatives
    trained = [tuple(sorted(given.items())) for given in world.trials]
    assert len(set(trained)) == len(trained)


def test_an_interruption_at_once_has_something_to_say(tmp_path: Path) -> None:
    fix = tmp_path / "good.py"
    fix.write_text(PROGRAM.replace("a = 0", "a = 1"))
    for options in ({}, {"fix": fix}):
        found = World(tmp_path, two_ways, [], interrupt_after=0).analyse(**options)
        assert "interrupted" in found.stopped and len(found.nodes) == 1
        assert found.alternatives == () and found.goal.value is None


def test_where_the_budget_ends_a_configuration_stays_open(tmp_path: Path) -> None:
    world = World(
        tmp_path, lambda given: 0.5 + 0.01 * given["a"] + NOISE[given["seed"]], [sets("a", 1, 2, 3, 4)]
    )
    found = world.analyse(9, depth=1)
    states = [node.status for node in found.nodes[1:]]
    assert states == [OPEN, OPEN, OPEN, KEPT]  # four first seeds, then two more for the best
    assert {number for one in found.alternatives for number in one.nodes} == {4}
