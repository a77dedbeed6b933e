"""Schedule and budget: which steps are looked at, and what that may cost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.observe.budget import ALLOWANCE, EARLY_SHARE, HEAD_START, Budget
from netmend.observe.schedule import FULL, LIGHT, LINE, Schedule


class Simulation:
    """A program with fixed costs per step, watched as the recorder would watch it."""

    def __init__(
        self, step: float, line: float, full: float, share: float = 0.01, hidden: float = 0.0
    ) -> None:
        self.budget = Budget(share)
        self.schedule = Schedule(self.budget)
        self.costs = {LIGHT: 0.0, LINE: line, FULL: full}
        self.hidden = hidden
        self.base = step
        self.levels: list[int] = []

    def run(self, steps: int) -> float:
        """Train; returns what watching took of these steps, as a share of the program's own time."""
        spent = 0.0
        for _ in range(steps):
            level = self.schedule.level(len(self.levels))
            self.levels.append(level)
            own = self.costs[level]
            extra = own + (self.hidden if level == FULL else 0.0)
            self.budget.step_done(level, self.base + extra, own)
            self.budget.own_seconds += own
            spent += extra
        return spent / (steps * self.base)


@pytest.mark.parametrize(
    ("step", "line", "full"),
    [
        (0.1, 20e-6, 10e-3),  # an ordinary step
        (5e-3, 20e-6, 2e-3),
        (1e-3, 30e-6, 3e-3),  # line level alone would take 3 %
        (50e-6, 30e-6, 5e-3),  # very short steps
        (1.0, 1e-3, 2.0),  # statistics dearer than the step itself
    ],
)
def test_the_budget_is_kept_once_the_allowance_is_used_up(step: float, line: float, full: float) -> None:
    simulation = Simulation(step, line, full)
    while simulation.budget.starting:
        simulation.run(64)
    simulation.run(512)
    steps = max(20_000, 2 * simulation.schedule.full_interval)
    assert simulation.run(steps) <= 0.01
    assert FULL in simulation.levels[-steps:]


@settings(max_examples=40, deadline=None)
@given(
    step=st.floats(2e-5, 0.5),
    line=st.floats(1e-6, 1e-4),
    full=st.floats(1e-4, 0.1),
    hidden=st.floats(0.0, 2.0),  # times the cost of our own functions
    share=st.sampled_from([0.002, 0.01, 0.1]),
)
def test_no_combination_of_costs_breaks_the_budget(
    step: float, line: float, full: float, hidden: float, share: float
) -> None:
    simulation = Simulation(step, line, full, share, hidden * full)
    for _ in range(400):
        simulation.run(64)
        if not simulation.budget.starting:
            break
    else:
        return  # watching costs next to nothing here
    simulation.run(1024)
    interval = simulation.schedule.full_interval
    steps = max(4096, 4 * interval)
    if steps > 100_000:
        return
    # A look whose cost cannot be spread over enough steps is the most that may come on top.
    assert simulation.run(steps) <= share * 1.05 + full * (1 + hidden) / (steps * step)


def test_the_first_steps_are_seen_whole_and_later_ones_ever_more_rarely() -> None:
    simulation = Simulation(0.1, 1e-6, 1e-4)
    simulation.run(1024)
    levels = simulation.levels
    assert levels[:16] == [FULL] * 16
    assert set(levels) == {FULL, LINE}
    for start in (64, 128, 256, 512):
        assert levels[start : 2 * start].count(FULL) == 8


def test_the_end_of_a_short_program_is_seen_as_well_as_its_beginning() -> None:
    simulation = Simulation(1e-3, 100e-6, 2e-3)
    simulation.run(2048)
    late = simulation.levels[1024:]
    assert FULL in late
    assert sum(level != LIGHT for level in late) >= 8


@pytest.mark.parametrize("step", [350e-6, 1e-3, 5e-3, 30e-3])
def test_no_short_program_is_slowed_down_by_the_whole_allowance(step: float) -> None:
    simulation = Simulation(step, 120e-6, 1.5e-3)
    sure = 8 * 1.5e-3  # looks without which nothing is known about the program
    assert simulation.run(2000) * 2000 * step <= HEAD_START + sure + (EARLY_SHARE + 0.015) * 2000 * step
    assert simulation.budget.starting or step > 5e-3


def test_the_allowance_is_a_fixed_number_of_seconds() -> None:
    simulation = Simulation(5e-3, 100e-6, 60e-3)
    simulation.run(60_000)
    assert not simulation.budget.starting
    assert not simulation.budget.allows()
    assert simulation.budget.spent <= ALLOWANCE + 0.01 * 60_000 * 5e-3 + 60e-3


def test_short_steps_are_mostly_not_looked_at_at_all() -> None:
    simulation = Simulation(50e-6, 30e-6, 5e-3)
    while simulation.budget.starting:
        simulation.run(64)
    simulation.run(50_000)
    late = simulation.levels[-20_000:]
    assert late.count(LIGHT) > 0.9 * len(late) and LINE in late


def test_full_steps_fall_on_multiples_of_a_power_of_two() -> None:
    simulation = Simulation(5e-3, 20e-6, 2e-3)
    while simulation.budget.starting:
        simulation.run(64)
    simulation.run(1000)
    start = len(simulation.levels)
    simulation.run(5000)
    interval = simulation.schedule.full_interval
    assert interval & (interval - 1) == 0
    places = [start + index for index, level in enumerate(simulation.levels[start:]) if level == FULL]
    assert places and all(place % min(interval, 512) == 0 for place in places)


@pytest.mark.parametrize("every", [1, 3, 10])
def test_every_takes_statistics_at_exactly_every_nth_step(every: int) -> None:
    schedule = Schedule(Budget(0.0001), every)
    levels = [schedule.level(step) for step in range(40)]
    assert levels == [FULL if step % every == 0 else LINE for step in range(40)]


def test_a_request_makes_the_next_steps_full() -> None:
    schedule = Schedule(Budget(0.01), every=100)
    assert [schedule.level(step) for step in range(3)] == [FULL, LINE, LINE]
    schedule.request(2)
    assert [schedule.level(step) for step in range(3, 7)] == [FULL, FULL, LINE, LINE]


def test_anomalies_are_looked_at_densely_but_not_for_ever() -> None:
    schedule = Schedule(Budget(0.01), every=10_000)
    schedule.level(0)
    looked = 0
    for step in range(1, 1000):
        schedule.anomaly()
        looked += schedule.level(step) == FULL
    assert 4 <= looked <= 40


def test_optimizers_that_take_turns_are_each_looked_at() -> None:
    schedule = Schedule(Budget(0.01), every=10)
    schedule.companions = 3
    levels = [schedule.level(step) for step in range(1, 41)]
    full = [step for step, level in enumerate(levels, start=1) if level == FULL]
    assert full == [10, 11, 12, 20, 21, 22, 30, 31, 32, 40]
    assert {step % 3 for step in full} == {0, 1, 2}


def test_companions_keep_to_the_budget_too() -> None:
    simulation = Simulation(5e-3, 20e-6, 2e-3)
    simulation.schedule.companions = 2
    while simulation.budget.starting:
        simulation.run(64)
    simulation.run(1024)
    assert simulation.run(20_000) <= 0.01
    late = [index for index, level in enumerate(simulation.levels) if level == FULL and index > 5000]
    assert {index % 2 for index in late} == {0, 1}


def test_hidden_costs_count() -> None:
    open_cost, hidden = Simulation(5e-3, 20e-6, 4e-3), Simulation(5e-3, 20e-6, 2e-3, hidden=2e-3)
    for simulation in (open_cost, hidden):
        while simulation.budget.starting:
            simulation.run(64)
        simulation.run(2048)
    assert hidden.schedule.full_interval == open_cost.schedule.full_interval


def test_a_pause_of_the_machine_is_not_our_cost() -> None:
    budget = Budget(0.01)
    for _ in range(10):
        budget.step_done(LINE, 0.01, 0.0)
    budget.refresh()
    budget.step_done(FULL, 60.0, 0.001)
    assert budget.spent < 0.1


def test_overhead_is_the_share_of_the_time_the_program_would_have_taken_alone() -> None:
    budget = Budget(0.01)
    assert budget.overhead is None
    for _ in range(10):
        budget.step_done(LINE, 1.1, 0.1)
        budget.own_seconds += 0.1
    assert budget.overhead == pytest.approx(0.1)


def test_the_loss_near_the_end_is_read_even_where_nothing_can_be_afforded() -> None:
    simulation = Simulation(1e-4, 0.05, 0.5)  # reading the loss takes as long as 500 steps
    simulation.run(3000)
    looked = [step for step, level in enumerate(simulation.levels) if level != LIGHT]
    assert looked[-1] > 0.75 * 3000
    assert simulation.schedule.next_look(1600) <= 2048 - 256
