"""Features: named, defined for every run, and the same whatever the unit of the loss."""

from __future__ import annotations

import math

import pytest
from ranking.features import features, row, words
from ranking.features.numbers import decades, rounded
from ranking.features.signs import strength

from netmend.diagnose import examine
from netmend.diagnose.detector import DETECTORS
from netmend.diagnose.examples.curves import falling, flat, run_with
from netmend.diagnose.examples.networks import net_run
from netmend.vocabulary import LEAVES, Symptom, Trace


def of(trace: Trace, accusations: dict[str, float] | None = None) -> dict[str, float]:
    values, failures = features(trace, examine(trace)[0], accusations or {})
    assert not failures
    return values


@pytest.mark.parametrize("code", DETECTORS.classes())
def test_every_example_run_has_features_and_all_of_them_have_names(code: str) -> None:
    unit = DETECTORS.classes()[code]
    for example in (*unit.HEALTHY, *unit.FAULTY):
        values = of(example.trace)
        assert set(values) <= set(words()), example.title
        assert not any(math.isinf(value) for value in values.values()), example.title


def test_an_empty_run_has_features_too() -> None:
    values = of(Trace())
    assert values["loss_nonfinite"] != values["loss_nonfinite"]  # no loss: not known
    assert values["rules_accused"] == 0


def test_the_unit_of_the_loss_does_not_matter() -> None:
    small = of(net_run(losses=falling(200), constant=1.0))
    large = of(net_run(losses=[1000 * value for value in falling(200)], constant=1000.0))
    assert small.keys() == large.keys()
    different = [
        name
        for name, value in small.items()
        if value != pytest.approx(large[name], rel=1e-6, abs=1e-9, nan_ok=True)
    ]
    assert different == []


def test_the_shape_of_the_loss_is_seen() -> None:
    learned, stuck = of(run_with(falling(200, end=0.01, noise=0.001))), of(run_with(flat(200)))
    assert learned["loss_last"] < -1.5 < -0.1 < stuck["loss_last"]
    assert learned["loss_half_at"] < 0.3
    assert learned["loss_plateau"] < stuck["loss_rises"]


def test_two_curves_of_the_same_losses_in_another_order_differ() -> None:
    """Sorted data comes in runs of alike batches; shuffled data does not."""
    blocky = [1 + 0.2 * (-1) ** (step // 5) for step in range(200)]
    alternating = [1 + 0.2 * (-1) ** step for step in range(200)]
    assert of(net_run(losses=blocky))["loss_memory"] > 0.3
    assert of(net_run(losses=alternating))["loss_memory"] < -0.3


def test_symptoms_and_accusations_are_among_them() -> None:
    symptoms = (
        Symptom("D101", "Fast.", observed=15.0, limit=0.15, first_step=50),
        Symptom("D501", "Stuck."),
    )
    values, _ = features(net_run(), symptoms, {"HYP-LR-HIGH": 2.0, "OPT-SELECT": -1.0})
    assert values["D101"] == pytest.approx(3.0)
    assert values["D501"] == 1.0
    assert values["D502"] == 0.0
    assert values["first_numbers"] == pytest.approx(50 / 200)
    assert values["rules:HYP-LR-HIGH"] == 2.0
    assert values["rules:HYP-LR-LOW"] < -1.0
    assert (values["rules_surest"], values["rules_second"]) == (2.0, -1.0)
    assert {f"rules:{code}" for code in LEAVES} <= set(values)


def test_a_strength_is_cut_off_and_needs_a_limit() -> None:
    assert strength(Symptom("D101", "", observed=1e30, limit=1.0)) == 5.0
    assert strength(Symptom("D101", "", observed=-3.0, limit=1.0)) == 1.0
    assert strength(Symptom("D101", "")) == 1.0


def test_decades_never_fail() -> None:
    assert decades(100.0, 1.0) == pytest.approx(2.0)
    assert decades(0.0, 1.0) == -12.0
    assert decades(1.0, 0.0) == 12.0
    assert decades(math.inf) == 12.0
    assert math.isnan(decades(-1.0)) and math.isnan(decades(None)) and math.isnan(decades(0.0, 0.0))


def test_values_that_differ_in_the_last_bit_are_the_same() -> None:
    assert rounded(0.1 + 0.2) == rounded(0.3) == 0.3
    assert math.isnan(rounded(math.nan))
    assert all(value != value or value == rounded(value) for value in of(net_run()).values())


def test_a_row_follows_the_given_names_and_leaves_gaps() -> None:
    values = row({"b": 2.0}, ("a", "b"))
    assert math.isnan(values[0]) and values[1] == 2.0
