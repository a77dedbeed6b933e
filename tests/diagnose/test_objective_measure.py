"""Which curve counts as the objective: an evaluation within the loop of steps is no estimate of the program's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netmend.diagnose.examples.curves import falling, run_with
from netmend.diagnose.measures.objective import evaluations, objective
from netmend.vocabulary import Call, LossFact, OptimizerFact, Pattern, Site, Table, Trace

STEP = (
    Call("forward", "net", "train, grad"),
    Call("loss", "mse_loss"),
    Call("backward"),
    Call("step", "opt"),
)


def run(*before: Call):
    pattern = Pattern((*before, *STEP), ((0, 199),))
    return replace(run_with(falling(200), criterion="mse_loss"), patterns=(pattern,))


@pytest.mark.parametrize(
    "before",
    [
        (Call("eval", "net"), Call("forward", "net", "eval, no_grad"), Call("train", "net")),
        (Call("forward", "net", "train, no_grad"), Call("loss", "mse_loss", "no_grad")),
    ],
    ids=["switched to evaluation", "scored without gradients"],
)
def test_an_evaluation_after_every_update_leaves_the_objective(before):
    assert objective(run(*before)) is not None


def test_targets_that_the_program_makes_itself_take_the_objective_away():
    assert objective(run(Call("forward", "target_net", "eval, no_grad"))) is None
    assert objective(run(Call("forward", "net", "train, no_grad"))) is None


SUMMED = "cross_entropy@train.py:40"


def evaluated_by_sums(constant: float) -> Trace:
    """Trained on the mean over a batch, evaluated with the sum over batches of about 64."""
    sums = Table.of(
        "evaluation",
        SUMMED,
        {50 * turn: (64 * loss, constant) for turn, loss in enumerate([0.8, 0.4, 0.2, 0.1])},
    )
    trace = run_with(falling(200), more=[sums])
    (trained,) = trace.losses
    summed = LossFact(SUMMED, criterion="cross_entropy", form="function", settings={"reduction": "sum"})
    return replace(trace, facts={**trace.facts, "loss": {trained.name: trained, SUMMED: summed}})


def test_an_evaluation_that_sums_up_is_compared_as_a_mean():
    passes = evaluations(evaluated_by_sums(constant=64 * 1.0))
    assert passes is not None
    assert passes[1] == pytest.approx([0.8, 0.4, 0.2, 0.1])


def test_sums_of_which_no_constant_answer_is_known_are_not_compared():
    assert evaluations(evaluated_by_sums(constant=float("nan"))) is None


def test_of_several_terms_the_one_that_weighs_most_is_followed():
    small = Table.of("progress", "mse_loss@train.py:30", dict.fromkeys(range(200), (0.01, 0.02)))
    trace = run_with(falling(200), criterion="mse_loss", more=[small])
    (main,) = trace.losses
    whole = LossFact(
        "objective@train.py:50",
        "expression",
        settings={"terms": (small.component, main.name)},
        backward=main.backward,
    )
    terms = [
        replace(main, backward=None),
        LossFact(small.component, criterion="mse_loss", form="function"),
        whole,
    ]
    tables = {("progress", small.component): small, **trace.tables}  # the small one comes first
    elsewhere = Table.of("evaluation", "mse_loss@train.py:70", dict.fromkeys((50, 100, 150), (0.5, 1.0)))
    tables["evaluation", elsewhere.component] = elsewhere
    trace = replace(trace, facts={**trace.facts, "loss": {loss.name: loss for loss in terms}}, tables=tables)
    course = objective(trace)
    assert course is not None and course.loss == main.name
    assert evaluations(trace) is None, "another line: it may compute either of the two"


def test_a_run_whose_later_half_was_not_seen_has_no_end_to_judge() -> None:
    trace = run_with(falling(200))
    longer = {name: replace(fact, steps=500) for name, fact in trace.facts["run"].items()}
    assert objective(trace) is not None
    assert objective(replace(trace, facts={**trace.facts, "run": longer})) is None


def test_players_that_take_turns_have_no_objective_in_common() -> None:
    """Of the second player's objective nothing but its backward pass may be known."""
    trace = run_with(falling(200))
    (loss,) = trace.losses
    other = LossFact("objective@train.py:40", "expression", "expression", backward=Site("train.py", 41))
    mine = replace(loss, backward=Site("train.py", 31))
    players = {name: OptimizerFact(name, "Adam") for name in ("one", "two")}
    facts = {**trace.facts, "optimizer": players, "loss": {mine.name: mine}}
    assert objective(replace(trace, facts=facts)) is not None
    assert objective(replace(trace, facts={**facts, "loss": {mine.name: mine, other.name: other}})) is None
