"""Pieces of mending: tasks, units, slices, objectives, and steps that leave the rest alone."""

from __future__ import annotations

import pytest
import torch
from mending_sample import spec_of
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.torch.descent import ALPHA, MaskedDescent, objective
from netmend.mend.torch.mixing import Average, Mixing
from netmend.mend.torch.running import tally
from netmend.mend.torch.spec import BINARY, NUMBERS, PROBABILITIES, Task, task_of
from netmend.mend.torch.undisturbed import undisturbed
from netmend.mend.torch.units import Group, argmax, pareto, share, top_share, units, whole


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2))


def test_tasks_are_read_off_outputs() -> None:
    classes = torch.tensor([0, 1])
    assert task_of(torch.tensor([[0.3, 0.7], [1.0, 0.0]]), classes).form == PROBABILITIES
    assert task_of(torch.tensor([[3.0], [-2.0]]), classes).form == BINARY
    numbers = task_of(torch.zeros(2, 1), torch.tensor([1.0, 2.0]), tolerance=0.5)
    assert numbers.form == NUMBERS
    assert numbers.wrong(
        torch.tensor([[1.4], [2.6], [float("nan")]]), torch.tensor([[1.0], [2.0], [0.0]])
    ).tolist() == [
        False,
        True,
        True,
    ]
    with pytest.raises(UsageError, match="run from 0 to 5; the model knows 0 to 1"):
        task_of(torch.randn(2, 2), torch.tensor([0, 5]))
    with pytest.raises(UsageError, match="tolerance"):
        task_of(torch.zeros(2, 1), torch.tensor([1.0, 2.0]))


def test_losses_and_drift_by_hand() -> None:
    task, even = Task("logits"), torch.zeros(1, 2)
    assert task.losses(even, torch.tensor([1])).item() == pytest.approx(0.693147)
    sure = torch.tensor([[0.0, 1.0986123]])  # 1/4 and 3/4
    expected = 0.25 * torch.tensor(0.5).log() + 0.75 * torch.tensor(1.5).log()
    assert task.drift(even, sure).item() == pytest.approx(expected.item(), abs=1e-6)
    population = torch.stack([even, sure])  # candidates × inputs × classes
    assert task.losses(population, torch.tensor([1])).shape == (2, 1)


def test_units_of_layers() -> None:
    model = nn.ModuleDict(
        {
            "conv": nn.Conv2d(2, 3, 2),
            "norm": nn.BatchNorm2d(3),
            "lstm": nn.LSTM(2, 5),
            "head": nn.Linear(5, 2),
        }
    )
    neurons = {group.name: group for group in units(model, "neuron")}
    assert {name: one.count for name, one in neurons.items()} == {"conv": 3, "norm": 3, "lstm": 5, "head": 2}
    mask = neurons["lstm"].mask(torch.tensor([False, True, False, False, False]))
    assert mask["lstm.weight_ih_l0"].nonzero()[:, 0].unique().tolist() == [1, 6, 11, 16]
    assert sum(group.count for group in units(model, "weight")) == sum(
        one.numel() for one in model.parameters()
    )


def test_sums_per_unit() -> None:
    (neuron,) = units(nn.Linear(2, 2), "neuron")
    elements = {"weight": torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "bias": torch.tensor([10.0, 20.0])}
    assert neuron.summed(elements).tolist() == [13.0, 27.0]
    (layer,) = units(nn.Linear(2, 2), "layer")
    assert layer.summed(elements).item() == 40.0


def points(*values: float) -> dict[str, Tensor]:
    return {"w": torch.tensor(values)}


GROUP = (Group("w", (4,), {"w": torch.Size([4])}),)


def test_slices() -> None:
    assert argmax(points(1, 5, 2, 0), GROUP)["w"].tolist() == [False, True, False, False]
    assert top_share(points(1, 5, 2, 0), GROUP, 0.5)["w"].tolist() == [False, True, True, False]
    front = pareto(points(3, 2, 1, 1), points(1, 2, 3, 2), GROUP)
    assert front["w"].tolist() == [True, True, True, False]
    nan = float("nan")
    assert argmax(points(nan, 1, nan, 0), GROUP)["w"].tolist() == [False, True, False, False]


def test_the_first_unit_of_equal_ones_is_taken_and_empty_parameters_are_left_out() -> None:
    model = network()
    groups = units(model, "layer")
    mask = argmax({group.name: torch.tensor(1.0) for group in groups}, groups)
    assert sorted(mask) == ["0.bias", "0.weight"] and share(mask, model) == pytest.approx(16 / 26)


def test_steps_move_only_the_slice() -> None:
    model = network().eval()
    first = {name: one.detach().clone() for name, one in model.named_parameters()}
    everything = whole(model)
    part = {"0.weight": torch.zeros(4, 3, dtype=torch.bool), "3.weight": torch.ones(2, 4, dtype=torch.bool)}
    part["0.weight"][1, 2] = True
    inputs = torch.randn(8, 3)
    optimiser = MaskedDescent(model, 0.01)

    def loss() -> Tensor:
        return model(inputs).square().sum()

    optimiser.step(loss, everything)  # moments exist everywhere from here on
    middle = {name: one.detach().clone() for name, one in model.named_parameters()}
    assert all(not torch.equal(first[name], middle[name]) for name in first)
    state = optimiser._rule.state[model[0].weight]
    moments = {key: one.clone() for key, one in state.items() if isinstance(one, Tensor) and one.dim()}
    optimiser.step(loss, part)
    changed = {name: one.detach() != middle[name] for name, one in model.named_parameters()}
    assert changed["3.weight"].any() and not changed["0.bias"].any() and not changed["3.bias"].any()
    outside = ~part["0.weight"]
    assert not changed["0.weight"][outside].any()
    assert all(torch.equal(state[key][outside], one[outside]) for key, one in moments.items())


def test_a_new_slice_in_the_same_memory_is_not_taken_for_the_old_one() -> None:
    model = nn.Linear(2, 1, bias=False)
    optimiser = MaskedDescent(model, 0.1)
    for place in (0, 1, 0, 1):
        before = model.weight.detach().clone()
        chosen = torch.tensor([[place == 0, place == 1]])
        optimiser.step(lambda: model(torch.ones(1, 2)).square().sum(), {"weight": chosen})
        assert torch.equal(model.weight.detach() != before, chosen)


def test_the_objective_by_hand() -> None:
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = torch.eye(2)
    inputs, wanted = torch.tensor([[2.0, 0.0]]), torch.tensor([1])
    spec = spec_of(model, (inputs, wanted), (torch.tensor([[0.0, 3.0]]), None))
    assert spec.guard.wanted.tolist() == [1]  # no label: what the model says
    wrong = nn.functional.cross_entropy(inputs, wanted).item()
    for guarded in (True, False):  # nothing has moved yet
        assert objective(model, spec, guarded).item() == pytest.approx(ALPHA * wrong)
    model.weight.data[1, 1] += 1.0
    assert objective(model, spec, guarded=True).item() > objective(model, spec, guarded=False).item()


def test_mixtures_and_corrected_references() -> None:
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = torch.eye(2)
    one = torch.tensor([[2.0, 0.0]])
    spec = spec_of(model, (one, torch.tensor([0])), (one, torch.tensor([0])))
    random = torch.Generator().manual_seed(0)
    still = Mixing(0.0, noise=0.0, corrected=0.0)
    # All inputs are the same: a mixture of them is one of them, and only its loss is left.
    assert still(model, spec, random).item() == pytest.approx(0.126928, abs=1e-5)
    assert Mixing(0.0, mixtures=0.0, noise=0.0, corrected=0.0)(model, spec, random).item() == 0.0
    sure = Mixing(0.0, mixtures=0.0, noise=0.0, corrected=1.0, guard_weight=1.0)
    assert sure(model, spec, random).item() == pytest.approx(
        0.126928, abs=1e-5
    )  # KL to the label is the cross-entropy
    noisy = Mixing(0.0, mixtures=0.0, noise=1.0, corrected=0.0)
    assert noisy(model, spec, random).item() > 0.0


def test_an_average_leaves_what_never_moved() -> None:
    model = nn.Linear(2, 1)
    model.weight.data = torch.tensor([[0.1, 1.0]])
    average = Average(model, 0.98)
    for _ in range(50):
        model.weight.data[0, 1] += 0.1
        average.add()
    with average.inside():
        assert model.weight[0, 0].item() == torch.tensor(0.1).item()
        assert 1.0 < model.weight[0, 1].item() < 6.0
    assert model.weight[0, 1].item() == pytest.approx(6.0)


def test_rates_count_only_what_changed_sides() -> None:
    model = nn.Linear(1, 2, bias=False)
    model.weight.data = torch.tensor([[1.0], [0.0]])
    spec = spec_of(
        model,
        (torch.tensor([[1.0], [2.0], [-1.0]]), torch.tensor([1, 1, 1])),  # the third was never wrong
        (torch.tensor([[3.0], [4.0], [-1.0]]), torch.tensor([0, 1, 1])),  # the second was never right
    )
    model.weight.data = torch.tensor([[0.0], [1.0]])
    seen = tally(model, spec.task, spec.failing, spec.guard)
    assert (seen.repaired, seen.failing, seen.broken, seen.guarded) == (2, 2, 2, 2)
    assert seen.repaired_share == 1.0 and seen.drift > 0


def test_a_model_is_left_as_it_was_even_after_an_error() -> None:
    model = network()
    model[0].weight.requires_grad_(False)
    model[3].weight.grad = torch.ones(2, 4)
    with pytest.raises(ZeroDivisionError), undisturbed(model):
        assert not model.training
        model[0].weight.requires_grad_(True)
        model[3].weight.grad = None
        raise ZeroDivisionError
    assert model.training and model[2].training and not model[0].weight.requires_grad
    assert model[3].weight.grad is not None


def test_bad_data_is_refused() -> None:
    model = network()
    with pytest.raises(UsageError, match=r"as many; there are \[2, 1\]"):
        spec_of(model, (torch.zeros(2, 3), torch.tensor([0])), torch.zeros(1, 3))
