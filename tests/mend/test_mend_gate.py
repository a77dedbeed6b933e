"""Which attempt is recommended, what unseen data says of it, and how the user's data is divided: on literal counts."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from netmend.errors import UsageError
from netmend.mend.gate import BREAKS, HOLDS, LOSES, NOTHING, REFUTED, UNSURE, Tally, interval, verdict_on
from netmend.mend.options import MendOptions, parse_methods, parse_rates, parts_of

AGREEING = Tally(40, 50, 0, 200)


@dataclass(frozen=True)
class One:
    validation: Tally
    unseen: Tally = AGREEING
    touched: int = 10
    of: int = 5_018

    @property
    def share(self) -> float:
        return self.touched / self.of


def test_the_best_within_the_bound_wins_whoever_made_it() -> None:
    tried = [
        One(Tally(30, 50, 0, 200)),
        One(Tally(50, 50, 3, 200)),  # repairs all, and breaks 1.5 %
        One(Tally(45, 50, 2, 200)),  # 0.9 - 5 · 0.01
        One(Tally(44, 50, 1, 200)),  # 0.88 - 5 · 0.005 is more
    ]
    assert verdict_on(tried, 0.01).at == verdict_on(tried, 0.01).best == 3
    assert verdict_on(tried, 0.02).at == 1
    assert verdict_on(tried, 0.01).standing == HOLDS and verdict_on(tried, 0.01).recommended


def test_of_those_that_cannot_be_told_apart_a_small_patch_wins() -> None:
    """The figures of examples/mend_digits.py: three failures in 21 are no difference, four with a breakage are one."""
    plain = One(Tally(18, 21, 1, 138), Tally(19, 21, 2, 138), touched=3_896)
    sparse = One(Tally(18, 21, 0, 138), Tally(17, 21, 1, 138), touched=1_003)
    dense = One(Tally(21, 21, 0, 138), Tally(19, 21, 3, 138), touched=4_537)
    layer = One(Tally(17, 21, 1, 138), Tally(18, 21, 4, 138), touched=249)
    found = verdict_on([plain, sparse, dense, layer], 0.01, 0)
    assert (found.at, found.best, found.standing, found.flaws) == (1, 2, HOLDS, ())
    alone = verdict_on([plain, dense], 0.01, 0)
    assert (alone.at, alone.standing, alone.flaws) == (1, UNSURE, (BREAKS, LOSES))
    # Many inputs tell the same shares apart.
    many = One(Tally(180, 210, 0, 1380), touched=1_003), One(Tally(210, 210, 0, 1380), touched=4_537)
    assert verdict_on(many, 0.01).at == 1


def test_small_is_small_enough() -> None:
    """Up to a quarter of the values the better patch wins, not the smaller one; without such a one the smallest does."""
    better, smaller = Tally(19, 21, 0, 138), Tally(18, 21, 0, 138)
    assert verdict_on([One(better, touched=1_000), One(smaller, touched=100)], 0.01).at == 0
    assert verdict_on([One(better, touched=4_000), One(smaller, touched=3_000)], 0.01).at == 1


def test_of_patches_of_one_size_the_one_that_repairs_most_wins_then_the_one_that_moves_answers_least() -> (
    None
):
    calm, loud = Tally(9, 10, 0, 50, drift=0.01), Tally(9, 10, 0, 50, drift=0.2)
    assert verdict_on([One(loud), One(calm)], 0.01).at == 1
    assert verdict_on([One(loud), One(Tally(10, 10, 0, 50, drift=0.3))], 0.01).at == 1
    assert verdict_on([One(calm), One(calm)], 0.01).at == 0


def test_few_failures_that_are_all_learned_from_are_no_sample() -> None:
    """Whoever has four failures wants four repaired, not three with a smaller patch."""
    unseen = Tally(0, 0, 0, 50)
    tried = [One(Tally(4, 4, 0, 50), unseen, 4_500), One(Tally(3, 4, 0, 50), unseen, 5)]
    assert verdict_on(tried, 0.01).at == 0


def test_what_does_worse_than_the_baseline_in_both_is_not_chosen() -> None:
    plain = One(Tally(18, 21, 0, 300), touched=4_500)
    assert verdict_on([plain, One(Tally(17, 21, 1, 300), touched=5)], 0.01, 0).at == 0
    assert verdict_on([plain, One(Tally(17, 21, 1, 300), touched=5)], 0.01).at == 1
    assert verdict_on([plain, One(Tally(17, 21, 0, 300), touched=5)], 0.01, 0).at == 1


@pytest.mark.parametrize(
    ("unseen", "flaws"),
    [
        (Tally(17, 21, 1, 138), ()),  # one repaired less, one broken less
        (Tally(18, 21, 1, 138), ()),
        (Tally(17, 21, 2, 138), (BREAKS, LOSES)),
        (Tally(18, 21, 2, 138), (BREAKS,)),  # as the baseline
        (Tally(19, 21, 3, 138), (BREAKS,)),  # more repaired, more broken
        (Tally(0, 0, 0, 138), ()),
    ],
)
def test_flaws_on_unseen_data_are_named_for_the_first_line(unseen: Tally, flaws: tuple[str, ...]) -> None:
    plain = One(Tally(18, 21, 1, 138), Tally(18, 21, 2, 138), touched=500)
    found = verdict_on([plain, One(Tally(19, 21, 0, 138), unseen)], 0.01, 0)
    assert found.at == 1 and found.flaws == flaws and found.recommended
    assert (found.standing == HOLDS) == (not found.reasons)
    assert (LOSES in flaws) == ("the baseline does better on unseen data" in " ".join(found.reasons))


def test_nothing_wins_where_nothing_is_repaired_or_too_much_breaks() -> None:
    none = verdict_on([One(Tally(0, 50, 0, 200)), One(Tally(0, 50, 9, 200))], 0.01)
    assert (none.standing, none.at, none.recommended) == (NOTHING, None, False)
    assert "no method repaired any" in none.reasons[0]
    harmful = verdict_on([One(Tally(50, 50, 8, 200)), One(Tally(9, 50, 5, 200))], 0.01)
    assert harmful.standing == NOTHING and "breaks 2.5% or more" in harmful.reasons[0]
    # A patch that changes nothing is no patch, whatever it claims.
    assert verdict_on([One(Tally(5, 50, 0, 200), touched=0)], 0.01).standing == NOTHING


@pytest.mark.parametrize(
    ("unseen", "standing", "words"),
    [
        (Tally(40, 50, 2, 200), HOLDS, ""),
        (Tally(40, 50, 3, 200), UNSURE, "3 of 200 unseen guard inputs break, above the bound"),
        (Tally(40, 50, 9, 200), REFUTED, "9 of 200 unseen guard inputs break, more than"),
        (Tally(0, 50, 0, 200), REFUTED, "none of 50 unseen failures"),
        (Tally(0, 1, 0, 200), UNSURE, "none of 1 unseen failures"),  # one input refutes nothing
        (Tally(0, 0, 0, 200), UNSURE, "no failing input was left unseen"),
        (Tally(40, 50, 0, 0), UNSURE, "no guard input was left unseen"),
        (Tally(0, 0, 9, 200), REFUTED, "9 of 200"),
    ],
)
def test_unseen_data_judges_the_chosen_one(unseen: Tally, standing: str, words: str) -> None:
    verdict = verdict_on([One(Tally(45, 50, 0, 200), unseen)], 0.01)
    assert verdict.standing == standing and verdict.at == 0
    assert words in " ".join(verdict.reasons) and bool(verdict.reasons) == bool(words)
    assert verdict.recommended == (standing != REFUTED)


def test_intervals_are_exact() -> None:
    assert interval(0, 10) == (0.0, pytest.approx(0.3085, abs=1e-4))  # 1 - 0.025 ** (1 / 10)
    assert interval(10, 10)[0] == pytest.approx(0.6915, abs=1e-4) and interval(10, 10)[1] == 1.0
    assert interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert interval(0, 0) == (0.0, 1.0)
    assert Tally(0, 0, 0, 0).repaired_share is None and Tally(1, 4, 1, 5).broken_share == 0.2


@pytest.mark.parametrize(("count", "sizes"), [(5, (3, 1, 1)), (10, (6, 2, 2)), (23, (15, 4, 4))])
def test_data_is_divided_in_three_that_do_not_overlap(count: int, sizes: tuple[int, int, int]) -> None:
    found = parts_of(range(count), (7, 1))
    held = [found.repair, found.validation, found.unseen]
    assert tuple(len(one) for one in held) == sizes and not found.shared
    assert sorted(place for one in held for place in one) == list(range(count))
    again, other = parts_of(range(count), (7, 1)), parts_of(range(count), (7, 2))
    assert all(
        (one == two).all()
        for one, two in zip(held, (again.repair, again.validation, again.unseen), strict=True)
    )
    if count > 5:
        assert found.repair.tolist() != other.repair.tolist()


def test_copies_of_an_input_stay_together() -> None:
    inputs = [place // 3 for place in range(30)]
    found = parts_of(inputs, (0, 1))
    kinds = [{inputs[place] for place in one} for one in (found.repair, found.validation, found.unseen)]
    assert not kinds[0] & kinds[1] and not kinds[0] & kinds[2] and not kinds[1] & kinds[2]
    assert len(found.unseen) == 6


def test_few_inputs_are_not_divided() -> None:
    found = parts_of([1, 2, 3, 4, 4], (0, 1))  # four different ones
    assert found.shared and found.repair.tolist() == found.validation.tolist() == [0, 1, 2, 3, 4]
    assert found.unseen.size == 0
    validated = parts_of([1, 2], (0, 1), validated=True)
    assert validated.repair.tolist() == [0, 1] and validated.validation.size == 0
    assert [
        len(part)
        for part in (parts_of(range(10), (0, 1), True).repair, parts_of(range(10), (0, 1), True).unseen)
    ] == [8, 2]


@pytest.mark.parametrize(
    "wishes",
    [{"steps": 0}, {"rates": ()}, {"rates": (0.0,)}, {"rates": (float("nan"),)}, {"bound": 1.0}, {"bound": -0.1},
     {"tolerance": -1.0}, {"tolerance": float("nan")}, {"seed": -1}],
)  # fmt: skip
def test_wishes_without_sense_are_refused(wishes: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="got"):
        MendOptions(**wishes)  # type: ignore[arg-type]


def test_lists_on_the_command_line() -> None:
    assert parse_methods("auto") == () and parse_methods("a, b,a") == ("a", "b")
    assert parse_rates("0.1,2e-3") == (0.1, 0.002)
    for text in ("", "auto,a", "a,,b"):
        with pytest.raises(UsageError, match="--method"):
            parse_methods(text)
    with pytest.raises(UsageError, match="--rate"):
        parse_rates("fast")
