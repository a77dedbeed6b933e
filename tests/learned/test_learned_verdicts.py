"""How answers about mutants are counted: leaves that name the same edit are right too, and halves never share a program."""

from __future__ import annotations

from dataclasses import replace

from rules import summary
from verdicts import EQUAL, HALVES, Verdict, half_of

from netmend.vocabulary import LEAVES


def verdict(seeded: str, *told: str, harmed: bool = True) -> Verdict:
    causes = (seeded,) if seeded else ()
    return Verdict("p", "run", "even", causes, ("M1",), "", harmed, told, (0.9,) * len(told), (), (), False)


def test_an_equal_leaf_is_right_and_another_is_not():
    assert verdict("ACT-OUT-MISSING", "LYR-SOFTMAX-MISSING").first
    late = verdict("ACT-OUT-MISSING", "HYP-LR-HIGH", "ACT-OUT-MISSING")
    assert late.among and not late.first
    assert not verdict("DAT-LABEL", "HYP-LR-HIGH").among


def test_the_table_of_equal_leaves_holds_leaves():
    assert {code for cause, others in EQUAL.items() for code in (cause, *others)} <= set(LEAVES)


def test_harmless_mutants_and_originals_count_as_healthy(capsys):
    found = [
        verdict("DAT-LABEL", "DAT-LABEL"),
        verdict("DAT-LABEL"),
        verdict("HYP-LR-LOW", "HYP-LR-LOW", harmed=False),  # what was seeded: no false alarm
        verdict("HYP-LR-LOW", "DAT-LABEL", harmed=False),
        replace(verdict("", "DAT-LABEL"), harmed=False),
    ]
    figures = summary(found, "all")
    capsys.readouterr()
    assert (figures["harmed"], figures["detected"], figures["rank1"]) == (2, 0.5, 0.5)
    assert (figures["unharmed"], figures["other_told"]) == (2, 0.5)
    assert (figures["originals"], figures["alarms"]) == (1, 1.0)


def test_programs_fall_into_both_halves_and_stay_there():
    halves = [half_of(f"program_{number}") for number in range(50)]
    assert set(halves) == set(HALVES)
    assert halves == [half_of(f"program_{number}") for number in range(50)]
