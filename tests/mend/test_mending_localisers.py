"""Localisers and searchers against values worked out by hand."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from mending_sample import spec_of
from torch import nn

from netmend.errors import UsageError
from netmend.mend.patch import State
from netmend.mend.torch.last_layer import LastLayer
from netmend.mend.torch.localisers import Localiser
from netmend.mend.torch.localisers.by_activity import (
    FORMULAS,
    alike,
    causal_effect,
    contributions,
    dstar,
    gradient_loss,
    ochiai,
    spectrum,
    tarantula,
    weights_only,
)
from netmend.mend.torch.localisers.by_gradient import contrast, influence, sensitivity
from netmend.mend.torch.running import mend
from netmend.mend.torch.searching import (
    Evolution,
    NeuronScaling,
    Population,
    Space,
    care,
    constricted,
    graded,
    split_at,
)
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.state_file import change_module
from netmend.mend.torch.units import units


def culprit() -> tuple[nn.Sequential, Spec]:
    """Hidden neuron 1 sees the second input and pulls towards the wrong class; neuron 0 is innocent, neuron 2 idle."""
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
        model[0].bias.copy_(torch.tensor([0.0, 0.0, -1.0]))
        model[2].weight.copy_(torch.tensor([[1.0, -2.0, 0.0], [-1.0, 2.0, 0.0]]))
        model[2].bias.zero_()
    failing = torch.tensor([[1.0, 1.0], [1.0, 1.5], [1.2, 1.0]])
    guard = torch.tensor([[1.0, 0.0], [1.5, 0.0], [2.0, 0.1], [1.0, -1.0]])
    return model, spec_of(
        model, (failing, torch.zeros(3, dtype=torch.long)), (guard, torch.zeros(4, dtype=torch.long))
    )


@pytest.mark.parametrize(
    "localiser",
    [
        partial(sensitivity, observed=False),
        contrast,
        influence,
        causal_effect,
        *(partial(spectrum, formula=formula) for formula in FORMULAS),
    ],
)
def test_the_guilty_neuron_is_found(localiser: Localiser) -> None:
    model, spec = culprit()
    hidden = [group for group in units(model, "neuron") if group.name == "0"]
    scores = localiser(model, spec, hidden)["0"]
    assert int(scores.argmax()) == 1 and scores.shape == (3,)


def test_spectrum_formulas() -> None:
    cf, uf, cs, us = (torch.tensor([float(one)]) for one in (3, 1, 2, 2))
    assert tarantula(cf, uf, cs, us).item() == pytest.approx(0.75 / 1.25)
    assert ochiai(cf, uf, cs, us).item() == pytest.approx(3 / 20**0.5)
    assert dstar(cf, uf, cs, us).item() == pytest.approx(27 / 3)
    nothing = torch.zeros(1)
    assert tarantula(nothing, nothing, nothing, nothing).item() == 0.0
    assert ochiai(nothing, uf, nothing, us).item() == 0.0
    assert dstar(cf, nothing, nothing, us).item() == float("inf")


def test_forward_impact_of_linear_layers_by_hand() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0, 3.0], [2.0, 2.0]]))
        model[1].weight.copy_(torch.tensor([[1.0, 0.0], [1.0, 2.0]]))
    spec = spec_of(
        model, (torch.tensor([[1.0, 1.0]]), torch.tensor([0])), (torch.ones(1, 2), torch.tensor([1]))
    )
    found = contributions(model, spec, spec.failing)
    # Pull at the hidden neurons: column sums 2 and 2, so half each; shares of what they receive: 1/4, 3/4 and 1/2, 1/2.
    assert found["0.weight"].flatten().tolist() == pytest.approx([0.125, 0.375, 0.25, 0.25])


def test_forward_impact_of_a_convolution_equals_the_linear_layer_that_it_is() -> None:
    torch.manual_seed(0)
    convolution, linear = nn.Conv2d(2, 3, 2), nn.Linear(8, 3)
    linear.weight.data = convolution.weight.data.flatten(1)
    linear.bias.data = convolution.bias.data  # type: ignore[union-attr]
    image = torch.randn(5, 2, 2, 2)  # one place only
    labels = torch.zeros(5, dtype=torch.long)
    flat = nn.Sequential(nn.Flatten(), linear)
    shaped = nn.Sequential(convolution, nn.Flatten())
    found = []
    for model in (flat, shaped):
        spec = spec_of(model, (image, labels), (image, labels))
        found.append(next(iter(contributions(model, spec, spec.failing).values())).flatten())
    assert torch.allclose(found[0], found[1], atol=1e-6) and found[0].sum().item() == pytest.approx(
        1.0, abs=1e-4
    )


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(3, 4, batch_first=True)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.cell(x)[0][:, -1])


def test_recurrent_layers_are_scored_and_searched() -> None:
    torch.manual_seed(0)
    model = Recurrent()
    x, y = torch.randn(6, 5, 3), torch.tensor([0, 1, 0, 1, 0, 1])
    spec = spec_of(model, (x, y), (x, y))
    groups = weights_only(model, units(model, "weight", biases=False))
    assert [one.name for one in groups] == ["cell.weight_ih_l0", "cell.weight_hh_l0", "head.weight"]
    found = contributions(model, spec, spec.failing)
    assert found["cell.weight_ih_l0"].shape == (16, 3) and found["cell.weight_hh_l0"].shape == (16, 4)
    assert all(bool((one >= 0).all()) and float(one.sum()) > 0 for one in found.values())
    mask = {"cell.weight_ih_l0": torch.ones(16, 3, dtype=torch.bool)}
    candidates = Population(model, spec.task, mask, spec.failing)
    judged = candidates.scores(torch.stack([candidates.start, candidates.start + 1]))
    assert torch.allclose(judged[0], model(x), atol=1e-5) and not torch.allclose(judged[1], judged[0])


def test_guard_inputs_are_taken_class_by_class() -> None:
    model = nn.Linear(1, 3)
    guard = torch.arange(6.0)[:, None], torch.tensor([0, 0, 0, 0, 1, 2])
    spec = spec_of(model, (torch.zeros(3, 1), torch.tensor([0, 1, 2])), guard)
    assert alike(spec).inputs[0].flatten().tolist() == [0.0, 4.0, 5.0]


def test_gradient_loss_is_weighed_against_the_guard() -> None:
    model, spec = culprit()
    groups = units(model, "weight")
    score = gradient_loss(model, spec, groups)["0.weight"]
    assert score[1, 1] == score.max() and score[2].abs().max() == 0


def test_candidates_are_judged_as_the_model_would_be() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3), nn.Linear(3, 2)
    ).eval()
    x, y = torch.randn(7, 4), torch.zeros(7, dtype=torch.long)
    spec = spec_of(model, (x, y), (x, y))
    mask = {"3.weight": torch.zeros(3, 5, dtype=torch.bool), "4.bias": torch.ones(2, dtype=torch.bool)}
    mask["3.weight"][1, 2] = True
    suffix, inputs = split_at(model, ["3.weight", "4.bias"], (x,))
    assert [name for name, _ in suffix.named_children()] == ["3", "4"] and inputs[0].shape == (7, 5)
    candidates = Population(model, spec.task, mask, spec.failing)
    vectors = candidates.start + torch.tensor([[0.0, 0.0, 0.0], [1.0, -2.0, 0.5]])
    judged = candidates.scores(vectors)
    assert judged.shape == (2, 7, 2) and torch.allclose(judged[0], model(x), atol=1e-6)
    candidates.write(vectors[1])
    assert torch.allclose(judged[1], model(x), atol=1e-6)
    assert graded(spec.task, judged, spec.failing).shape == (2, 7)


@pytest.mark.parametrize("searcher", [Evolution(), constricted()])
def test_searchers_find_a_known_best(searcher: Evolution) -> None:
    target, ones = torch.tensor([0.5, -0.7, 0.1]), torch.ones(3)
    spread = (0 * ones, ones, -ones, ones)
    seen: list[float] = []

    def fitness(vectors: torch.Tensor) -> torch.Tensor:
        return -(vectors - target).square().sum(1)

    def look(best: torch.Tensor) -> None:
        seen.append(float(fitness(best[None])))

    space = Space(fitness, 0 * ones, spread, 30, 60, torch.Generator().manual_seed(0))
    found = searcher.search(space, look)
    assert torch.allclose(found, target, atol=0.05) and seen == sorted(seen)


def test_scaling_keeps_the_direction_of_a_neuron() -> None:
    model, spec = culprit()
    method = NeuronScaling("care", "", care(), neurons=1)
    attempt = mend(model, spec, method)
    assert attempt.repaired == 1.0 and attempt.broken == 0.0
    before = model[0].weight.detach().clone()
    change_module(model, attempt.patch, State.IN)
    factors = (model[0].weight / before)[before != 0]
    assert {piece.name for piece in attempt.patch} <= {"0.weight", "0.bias"} and factors.min() < 1.0


@pytest.mark.parametrize("exact", [False, True])
def test_the_last_layer_is_solved_to_the_margin(exact: bool) -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    x = torch.randn(20, 4)
    answers = model(x).argmax(1)
    failing = x[:3], (answers[:3] + 1) % 3
    spec = spec_of(model, failing, (x[3:], answers[3:]))
    attempt = mend(model, spec, LastLayer("last", "", exact, softness=1e6))
    assert attempt.repaired == 1.0
    assert {piece.name for piece in attempt.patch} <= {"2.weight", "2.bias"}
    change_module(model, attempt.patch, State.IN)
    scores = model(failing[0]).detach()
    lead = scores.gather(1, failing[1][:, None]) - scores.scatter(1, failing[1][:, None], -torch.inf).amax(
        1, keepdim=True
    )
    assert float(lead.min()) == pytest.approx(0.05, abs=2e-3) or float(lead.min()) > 0.05


def test_a_model_without_a_linear_end_is_refused() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    spec = spec_of(model, (torch.randn(4, 2), torch.tensor([0, 1, 0, 1])), torch.randn(3, 2))
    with pytest.raises(UsageError, match="does not end in a linear layer"):
        mend(model, spec, LastLayer("last", ""))
