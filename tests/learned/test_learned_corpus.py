"""The choice of mutants that are trained, and whether one is clearly worse than its original."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from choosing import pairs, singles
from harm import judged

from netmend.mutate.mutation import Mutation
from netmend.program.text.positions import lines_of
from netmend.trials.trial import FAILED, FINISHED, TIMED_OUT, Outcome
from netmend.vocabulary.change import FileEdit

ACCURACY, LOSS, MEASURED = "printed:test acc", "printed:val loss", "evaluation:0:metric"


def ran(value: float, series: str = ACCURACY, measured: float | None = None) -> Outcome:
    values = {series: value} if measured is None else {series: value, MEASURED: measured}
    return Outcome(FINISHED, steps=50, series={name: [[50.0, end]] for name, end in values.items()})


GOOD = [ran(0.95), ran(0.97), ran(0.96)]


def test_worse_than_all_originals_by_more_than_they_differ() -> None:
    assert judged(ran(0.60), GOOD).harmed is True
    assert judged(ran(0.94), GOOD).harmed is False
    assert judged(ran(0.99), GOOD).harmed is False
    assert judged(ran(0.60), GOOD).original == 0.96


def test_a_measure_that_wavers_needs_a_larger_difference() -> None:
    wavering = [ran(0.70), ran(0.90), ran(0.80)]
    assert judged(ran(0.62), wavering).harmed is False
    assert judged(ran(0.30), wavering).harmed is True


def test_losses_are_better_when_lower() -> None:
    originals = [ran(value, LOSS) for value in (0.20, 0.22, 0.21)]
    assert judged(ran(0.9, LOSS), originals).harmed is True
    assert judged(ran(0.1, LOSS), originals).harmed is False


def test_a_loss_of_another_kind_is_not_compared() -> None:
    originals = [ran(value, LOSS) for value in (0.20, 0.22, 0.21)]
    assert judged(ran(40.0, LOSS), originals, rescales=True).harmed is None
    measured = [ran(value, LOSS, measured=0.9) for value in (0.20, 0.22, 0.21)]
    assert judged(ran(40.0, LOSS, measured=0.2), measured, rescales=True).harmed is True
    assert judged(ran(40.0, LOSS, measured=0.9), measured, rescales=True).harmed is False


def test_no_number_is_harm() -> None:
    assert judged(ran(float("nan")), GOOD).harmed is True


def test_an_exception_counts_only_where_the_fault_raises_it() -> None:
    raised = Outcome(FAILED, exception="RuntimeError: shapes cannot be multiplied")
    assert judged(raised, GOOD).harmed is None
    assert judged(raised, GOOD, crashes=True).harmed is True
    assert judged(Outcome(FAILED, exception="ValueError: nan in logits"), GOOD).harmed is True
    assert judged(Outcome(TIMED_OUT), GOOD).harmed is None


def test_what_was_never_told_is_not_judged() -> None:
    assert judged(ran(3.0, "printed:epoch"), GOOD).harmed is None


def mutation(cause: str, title: str, operator: str = "") -> Mutation:
    return Mutation(operator or f"M-{cause}", cause, title, ())


def test_causes_are_drawn_evenly_and_always_alike() -> None:
    proposed = {
        "one": [mutation("A", f"a{n}") for n in range(40)] + [mutation("B", "b0"), mutation("C", "c0")],
        "two": [mutation("A", f"a{n}") for n in range(40)] + [mutation("B", f"b{n}") for n in range(3)],
    }
    chosen = singles(proposed, 3)
    assert chosen == singles(dict(reversed(proposed.items())), 3)
    assert {each.cause for each in chosen["one"]} == {"A", "B", "C"}
    counts = Counter(each.cause for found in chosen.values() for each in found)
    assert max(counts["A"], counts["B"]) <= 3 and all(len(found) == 3 for found in chosen.values())
    assert len(singles({"few": [mutation("A", "a")]}, 5)["few"]) == 1


def test_pairs_are_of_different_causes_that_do_not_hide_each_other(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    text = "".join(f"v{n} = {n}\n" for n in range(6))
    file.write_text(text, encoding="utf-8")

    def at(line: int, cause: str) -> Mutation:
        edit = FileEdit(
            str(file), lines_of(text).edit(text.index(f"= {line}"), text.index(f"= {line}") + 3, "= 9")
        )
        return Mutation(f"M-{cause}", cause, f"{cause} {line}", (edit,))

    harmful = [
        at(0, "HYP-LR-HIGH"),
        at(0, "HYP-LR-LOW"),
        at(1, "LOOP-STEP"),
        at(2, "LOS-SELECT"),
        at(3, "LOS-SELECT"),
    ]
    found = list(pairs("program", harmful, 9))
    assert found
    for one, other in found:
        assert one.cause != other.cause and "LOOP-STEP" not in (one.cause, other.cause)
        assert {one.cause, other.cause} != {"HYP-LR-HIGH", "HYP-LR-LOW"}  # both at one place
    assert len(list(pairs("program", harmful, 1))) == 1
