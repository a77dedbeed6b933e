"""A whole attempt on a small faulty classifier: it repairs, keeps the rest, and puts everything back."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from mending_sample import spec_of
from torch import nn

from netmend.errors import UsageError
from netmend.mend.gate import Tally, worth
from netmend.mend.patch import State
from netmend.mend.torch.methods import METHODS, OURS, method
from netmend.mend.torch.running import Budget, mend
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.state_file import change_module

CENTRES = torch.tensor([[2.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, -1.0], [0.0, 0.0, 2.0, 0.0]])


def faulty(rows: int = 90) -> tuple[nn.Sequential, torch.Tensor, torch.Tensor]:
    """Three clusters; the network was taught that most of the third are of the second class."""
    torch.manual_seed(1)
    labels = torch.arange(rows) % 3
    inputs = CENTRES[labels] + 0.4 * torch.randn(rows, 4)
    model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
    taught = torch.where((labels == 2) & (torch.arange(rows) % 10 != 0), 1, labels)
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(60):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(inputs), taught).backward()
        optimiser.step()
    return model, inputs, labels


def problem(holdout: bool = True) -> tuple[nn.Sequential, Spec]:
    model, inputs, labels = faulty()
    wrong = model(inputs).argmax(1) != labels
    assert wrong.sum() > 20
    bad, good = wrong.nonzero()[:, 0], (~wrong).nonzero()[:, 0]

    def pair(places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return inputs[places], labels[places]

    if not holdout:
        return model, spec_of(model, pair(bad), pair(good))
    return model, spec_of(model, pair(bad[::2]), pair(good[::2]), pair(bad[1::2]), pair(good[1::2]))


BUDGET = Budget(steps=60, rate=0.01, population=12, generations=12)


def bits(model: nn.Module) -> list[bytes]:
    return [one.detach().numpy().tobytes() for one in model.parameters()]


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_gives_a_patch_and_leaves_the_model_alone(name: str) -> None:
    model, spec = problem()
    first = bits(model)
    attempt = mend(model, spec, method(name), BUDGET, seed=3)
    assert bits(model) == first and model.training
    again = mend(model, spec, method(name), BUDGET, seed=3)
    assert [piece.new.tolist() for piece in again.patch] == [piece.new.tolist() for piece in attempt.patch]
    # A search may end where it began; then nothing may be claimed either.
    assert attempt.patch.touched > 0 or attempt.repaired == attempt.held_out.repaired_share == 0.0
    assert attempt.patch.meta["method"] == name
    # What the attempt says is what the patched model does.
    change_module(model, attempt.patch, State.IN)
    right = model(spec.failing_holdout.inputs[0]).argmax(1) == spec.failing_holdout.wanted
    assert float(right.float().mean()) == pytest.approx(attempt.held_out.repaired_share)
    change_module(model, attempt.patch, State.OUT)
    assert bits(model) == first


def test_the_baseline_repairs_and_keeps_the_guard() -> None:
    model, spec = problem()
    attempt = mend(model, spec, method("fine_tune_kl"), BUDGET)
    assert attempt.held_out.repaired_share >= 0.8 and attempt.held_out.broken_share <= 0.1
    loose = mend(model, spec, method("fine_tune"), BUDGET)
    assert loose.held_out.drift > attempt.held_out.drift


def test_the_best_look_is_kept() -> None:
    model, spec = problem()
    seen: list[float] = []
    budget = replace(
        BUDGET, steps=60, rate=0.002, look_every=1
    )  # unguarded: early looks are better than late ones

    def said(step: int, now: Tally) -> None:
        seen.append(worth(now))

    attempt = mend(model, spec, method("fine_tune"), budget, said=said)
    assert worth(attempt.held_out) == pytest.approx(max(seen))
    assert max(seen) > seen[-1]


def test_without_hold_outs_the_last_weights_count() -> None:
    model, spec = problem(holdout=False)
    attempt = mend(model, spec, method("fine_tune_kl"), BUDGET)
    assert attempt.repaired > 0.8 and attempt.held_out.failing == 0


def test_weights_that_run_away_leave_no_patch() -> None:
    model, spec = problem(holdout=False)
    attempt = mend(model, spec, method("fine_tune"), replace(BUDGET, rate=1e38))
    assert attempt.patch.touched == 0 and "smaller rate" in attempt.notes[0]


def test_a_single_layer_is_touched_where_one_was_chosen_for_one_step() -> None:
    model, spec = problem()
    attempt = mend(model, spec, method("irepair_kl"), replace(BUDGET, steps=1))
    assert len({piece.name.rpartition(".")[0] for piece in attempt.patch}) == 1


def test_a_sparse_repair_stays_within_its_share_and_does_as_well() -> None:
    model, spec = problem()
    dense, sparse = (mend(model, spec, method(name), BUDGET) for name in ("mixing", OURS))
    assert 0 < sparse.patch.touched <= 0.2 * sum(one.numel() for one in model.parameters())
    assert dense.patch.share > 0.5
    assert sparse.held_out.repaired_share >= 0.8 and sparse.held_out.broken_share <= 0.1
    assert sparse.steps == BUDGET.steps  # both phases together


def test_points_on_the_line_are_looked_at_only_with_hold_outs() -> None:
    model, spec = problem()
    seen: list[int] = []
    budget = replace(BUDGET, look_every=1000)
    mend(model, spec, method(OURS), budget, said=lambda step, _: seen.append(step))
    assert seen == [60, 60, 60, 60]  # the end of descent and three points
    assert mend(*problem(holdout=False), method(OURS), budget).repaired >= 0.8


def test_whole_number_inputs_are_not_mixed() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(6, 8), nn.Flatten(), nn.Linear(16, 3))
    tokens = torch.tensor([[0, 1], [2, 3], [4, 5], [1, 1]])
    answers = model(tokens).argmax(1)
    spec = spec_of(model, (tokens[:1], (answers[:1] + 1) % 3), (tokens[1:], answers[1:]))
    attempt = mend(model, spec, method("mixing"), BUDGET)
    assert attempt.repaired == 1.0


def test_unknown_names_and_limits_are_told() -> None:
    with pytest.raises(UsageError, match="no method called 'magic'; choose among fine_tune, fine_tune_kl"):
        method("magic")
    with pytest.raises(UsageError, match="steps must be at least 1; 0 was given"):
        Budget(steps=0)


class Counting(nn.Module):
    """Counts its calls in a buffer, in any mode."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.head(x)


def test_buffers_are_put_back_too() -> None:
    torch.manual_seed(0)
    model = Counting()
    x = torch.randn(6, 2)
    spec = spec_of(model, (x[:2], 1 - model(x[:2]).argmax(1)), x[2:])
    before = model.calls.item()
    mend(model, spec, method("fine_tune_kl"), replace(BUDGET, steps=3))
    assert model.calls.item() == before
