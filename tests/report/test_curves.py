"""Which series belong into which plot, thinning, and plots made of characters."""

from __future__ import annotations

import numpy as np
import sample
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from netmend.report.axes import Axis, tick_label
from netmend.report.run.curves import Curve, Line, curves, thin
from netmend.report.textplot import sparkline, text_plot
from netmend.vocabulary import TargetFact, Trace

NUMBERS = arrays.arrays(np.float64, st.integers(1, 3000), elements=st.floats(allow_nan=False))


@settings(max_examples=50, deadline=None)
@given(NUMBERS, st.integers(1, 50))
def test_thinning_keeps_ends_and_extremes_and_bounds_the_length(values: np.ndarray, buckets: int) -> None:
    steps = np.arange(len(values))
    kept_steps, kept = thin(steps, values, buckets)
    assert len(kept) <= 5 * buckets
    assert (np.diff(kept_steps) > 0).all()
    assert (kept == values[kept_steps]).all()
    assert kept_steps[0] == 0 and kept_steps[-1] == len(values) - 1
    finite, kept_finite = values[np.isfinite(values)], kept[np.isfinite(kept)]
    if len(finite):
        assert kept_finite.min() == finite.min()
        assert kept_finite.max() == finite.max()
    assert np.isfinite(values).all() == np.isfinite(kept).all()


def test_a_healthy_run_has_all_curves_with_training_and_evaluation() -> None:
    found = {curve.title: curve for curve in curves(sample.healthy())}
    assert list(found) == ["loss", "accuracy", "learning rate", "gradient norm"]
    assert [line.label for line in found["loss"].lines] == [
        "training",
        "evaluation",
        "best constant prediction",
    ]
    assert found["accuracy"].unit == "share"


def test_a_loss_that_only_evaluation_calls_does_not_hide_the_constant_predictor() -> None:
    trace = sample.healthy()
    other = TargetFact("cross_entropy@train.py:90", 500, constant_loss=2.29)
    targets = {**trace.facts["target"], other.name: other}
    loss = curves(Trace({**trace.facts, "target": targets}, trace.tables, trace.patterns, trace.events))[0]
    (constant,) = [line for line in loss.lines if line.role == "reference"]
    assert constant.values.tolist() == [trace.all(TargetFact)[0].constant_loss] * 2


def test_the_learning_rate_holds_until_it_changes() -> None:
    rate = next(curve for curve in curves(sample.healthy()) if curve.title == "learning rate").lines[0]
    assert rate.steps.tolist() == [1, 401, 401, 801, 801, 1200]
    assert rate.values.tolist() == [1e-3, 1e-3, 5e-4, 5e-4, 2.5e-4, 2.5e-4]


def test_a_gan_has_a_loss_per_optimiser_and_no_constant_predictor() -> None:
    loss = curves(sample.gan())[0]
    assert [line.label for line in loss.lines] == ["optimizer_d", "optimizer_g"]


def test_a_single_spike_makes_the_loss_logarithmic() -> None:
    assert not curves(sample.healthy())[0].log
    assert curves(sample.large(2, 10_000))[0].log


def test_nothing_recorded_gives_no_curves() -> None:
    assert curves(sample.empty()) == ()


@settings(max_examples=100, deadline=None)
@given(NUMBERS, st.booleans(), st.booleans())
def test_text_plots_survive_any_values(values: np.ndarray, log: bool, plain: bool) -> None:
    curve = Curve("loss", (Line("training", np.arange(1, len(values) + 1), values),), log=log)
    rows = text_plot(curve, 50, 7, plain)
    assert (not rows) == (not np.isfinite(values).any())
    for label, layers in rows:
        assert len(label + layers[0]) <= 50
    if plain:
        assert all((label + "".join(layers)).isascii() for label, layers in rows)


def test_a_rising_line_rises_in_the_text_plot() -> None:
    curve = Curve("loss", (Line("training", np.arange(1, 41), np.arange(40.0)),))
    rows = [layers[0] for _, layers in text_plot(curve, 40, 5, plain=True)]
    starts = [row.index("*") for row in rows]
    assert starts == sorted(starts, reverse=True)


def test_sparklines_follow_the_values() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([5, 5]) == "▁▁"
    assert sparkline([1.0]) == ""
    assert sparkline([3, 1], plain=True).isascii()


@settings(deadline=None)
@given(NUMBERS, st.booleans())
def test_ticks_are_few_and_on_the_axis(values: np.ndarray, log: bool) -> None:
    axis = Axis.over([values], log)
    if axis is None:
        return
    ticks = axis.ticks(4)
    assert len(ticks) <= 12
    for tick in ticks:
        position = axis.position(tick)
        assert position is not None and 0 <= position <= 1
        assert tick_label(tick)
