"""Which curve counts as the objective: an evaluation within the loop of steps is no estimate of the program's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netmend.diagnose.measures.examples import falling, run_with
from netmend.diagnose.measures.objective import objective
from netmend.vocabulary import Call, Pattern

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
