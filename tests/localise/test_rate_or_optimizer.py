"""A rate that its optimiser is not used with is told as the rate; an optimiser that is slow at a usual rate as the optimiser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netmend.diagnose.examples.curves import falling, flat, run_with
from netmend.diagnose.examples.networks import net_run
from netmend.localise import diagnose
from netmend.vocabulary import BatchPrint, Diagnosis, LoaderFact, Trace

SLOW = [1.1 - 1e-4 * step for step in range(300)]


def causes(diagnosis: Diagnosis) -> list[str]:
    return [fault.cause for fault in diagnosis.faults]


@pytest.mark.parametrize(
    ("optimizer", "settings", "ratio", "told"),
    [
        ("Adadelta", {"lr": 0.001}, 1e-5, "HYP-LR-LOW"),
        ("Adagrad", {"lr": 1e-4}, 1e-4, "HYP-LR-LOW"),
        ("RMSprop", {"lr": 1e-6}, 1e-5, "HYP-LR-LOW"),
        ("SGD", {"lr": 1e-4}, 1e-4, "HYP-LR-LOW"),
        ("SGD", {"lr": 1e-4, "momentum": 0.9}, 1e-4, "HYP-LR-LOW"),
        ("SGD", {"lr": 0.01}, 1e-4, "OPT-SELECT"),
        ("SGD", {"lr": 0.1}, 5e-3, "OPT-SELECT"),
        ("ASGD", {"lr": 0.01}, 1e-4, "OPT-SELECT"),
        # half of the last step is repeated: not without momentum, and the rate is what is left
        ("SGD", {"lr": 0.01, "momentum": 0.5}, 1e-4, "HYP-LR-LOW"),
    ],
)
def test_which_of_the_two_is_unusual(optimizer, settings, ratio, told):
    diagnosis = diagnose(net_run(losses=SLOW, optimizer=optimizer, settings=settings, ratio=ratio))
    assert causes(diagnosis) == [told]
    assert diagnosis.faults[0].site is not None and diagnosis.faults[0].site.line == 15


@pytest.mark.parametrize("settings", [{"lr": 0.01}, {"lr": 0.1}])
def test_plain_sgd_that_learns_is_left_alone(settings):
    assert not diagnose(net_run(optimizer="SGD", settings=settings, ratio=2e-3)).faults


def test_a_plateau_of_plain_sgd_may_be_all_there_is_to_learn():
    curve = [*falling(150, end=0.6), *flat(150, 0.6)]
    assert not diagnose(net_run(losses=curve, optimizer="SGD", settings={"lr": 0.1}, ratio=0.01)).faults


def whole_set(trace: Trace, samples: int) -> Trace:
    loader = LoaderFact("loader", samples=samples, batch_size=samples, phase="training")
    return Trace({**trace.facts, "loader": {"loader": loader}}, trace.tables, trace.patterns)


def test_few_updates_and_a_low_rate_are_told_both():
    trace = net_run(losses=[1.1 - 1e-4 * step for step in range(10)], settings={"lr": 1e-5}, ratio=1e-5)
    assert causes(diagnose(whole_set(trace, 80))) == ["HYP-LR-LOW", "HYP-EPOCH-FEW"]


@pytest.mark.parametrize(
    ("optimizer", "settings", "ratio", "told"),
    [
        ("Adam", {"lr": 1e-6}, 1e-5, "HYP-LR-LOW"),
        ("Adam", {"lr": 1e-8}, 1e-7, "HYP-LR-LOW"),
        ("SGD", {"lr": 0.01}, 3e-4, "OPT-SELECT"),
        ("SGD", {"lr": 0.001}, 5e-5, "HYP-LR-LOW"),
    ],
)
@pytest.mark.parametrize("fall", [0.0, 1e-3])  # of the loss in each step
def test_two_passes_at_a_rate_far_from_useful_ones_are_told_as_the_rate(
    optimizer, settings, ratio, told, fall
):
    losses = [1.05 - fall * step + 0.01 * (-1) ** step for step in range(120)]
    trace = net_run(losses=losses, optimizer=optimizer, settings=settings, ratio=ratio)
    loader = LoaderFact("loader", samples=60 * 64, batch_size=64, phase="training")
    trace = Trace({**trace.facts, "loader": {"loader": loader}}, trace.tables, trace.patterns)
    assert causes(diagnose(trace)) == [told]


def test_a_loss_that_fell_and_stayed_is_as_low_as_the_program_gets():
    """A variational encoder: its constant prediction does not pay for the term beside the reconstruction."""
    loader = LoaderFact("loader", samples=50 * 64, batch_size=64, phase="training")
    settled, falls = [*falling(50, end=0.62), *flat(50, 0.62)], [1.05 - 0.004 * step for step in range(100)]
    for losses, told in ((settled, []), (falls, ["HYP-EPOCH-FEW"])):
        trace = run_with(losses)
        facts = {**trace.facts, "loader": {"loader": loader}}
        assert causes(diagnose(Trace(facts, trace.tables))) == told


def test_many_passes_in_large_batches_are_the_batch_alone():
    trace = net_run(losses=flat(30, 0.9))
    assert causes(diagnose(whole_set(trace, 1000))) == ["HYP-BATCH-LARGE"]


def large_inputs(trace: Trace, mean: float = 60.0) -> Trace:
    rows = ((mean, mean / 2, 0.0, 2 * mean),) * 3
    batches = tuple(BatchPrint(step, "training", 32, "model", (), "feature", rows) for step in range(4))
    return replace(trace, batches=batches)


def test_large_inputs_are_told_where_ordinary_steps_learn_nothing():
    assert causes(diagnose(large_inputs(run_with(flat(200))))) == ["PRE-MISS-NORM"]


def test_large_inputs_that_show_in_the_first_loss_are_told_whatever_was_learned():
    learned = [*falling(200, start=8.0, end=0.1)]
    assert causes(diagnose(large_inputs(run_with(learned), 110.0))) == ["PRE-MISS-NORM"]
    assert causes(diagnose(large_inputs(run_with(falling(200)), 110.0))) == []
    assert causes(diagnose(large_inputs(run_with(learned), 30.0))) == []


def test_large_inputs_are_not_told_where_nothing_could_be_learned_yet():
    few = large_inputs(whole_set(net_run(losses=flat(10)), 80))
    assert causes(diagnose(few)) == ["HYP-EPOCH-FEW"]
    slow = large_inputs(net_run(losses=flat(200), settings={"lr": 1e-6}, ratio=1e-5))
    assert causes(diagnose(slow)) == ["HYP-LR-LOW"]


@pytest.mark.parametrize(("level", "told"), [(0.3, True), (2.0, False)])
def test_past_the_best_epoch_is_told_only_where_training_has_learned(level, told):
    evaluations = [0.6, 0.4, *(0.4 + 0.05 * step for step in range(12))]
    found = causes(diagnose(run_with(falling(200, start=2.5, end=level), evaluations=evaluations)))
    assert ("HYP-EPOCH-MANY" in found) is told


@pytest.mark.parametrize(
    ("begin", "rate", "told"), [(400.0, 0.05, False), (400.0, 5.0, True), (1.0, 0.05, True)]
)
def test_a_usual_rate_is_not_what_puts_a_loss_hundreds_of_times_too_high_before_any_step(begin, rate, told):
    trace = net_run(
        losses=[begin, 8 * begin, 30 * begin, 12 * begin, *flat(200, 1.05)],
        optimizer="SGD",
        settings={"lr": rate},
        ratio=lambda step: 0.5 if step < 20 else 0.05,
        growth=lambda step: min(1 + step, 15.0),
    )
    assert ("HYP-LR-HIGH" in causes(diagnose(trace))) is told


def test_a_slow_optimizer_in_a_comparison_is_there_on_purpose() -> None:
    alone = net_run(
        losses=[1.1 - 1e-4 * s for s in range(300)], optimizer="SGD", settings={"lr": 0.01}, ratio=1e-4
    )
    (model,), (optimizer,) = alone.models, alone.optimizers
    networks = {f"net{number}": replace(model, name=f"net{number}") for number in range(3)}
    others = {kind: replace(optimizer, name=kind, kind=kind) for kind in ("Adam", "RMSprop")}
    facts = {**alone.facts, "optimizer": {optimizer.name: optimizer, **others}}
    two_parts = replace(alone, facts=facts)
    compared = replace(alone, facts={**facts, "model": networks})
    assert "OPT-SELECT" in causes(diagnose(alone))
    assert "OPT-SELECT" in causes(diagnose(two_parts))
    assert "OPT-SELECT" not in causes(diagnose(compared))
