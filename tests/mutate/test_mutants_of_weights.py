"""Mutants of trained models: they change what the model says, are the same for the same seed, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netmend.adapters.torch.weight_mutants import MUTANTS
from netmend.adapters.torch.weight_mutants.operators.of_weights import weights_of
from netmend.errors import UsageError
from netmend.unit import page

UNITS = list(MUTANTS.classes().values())


class Reader(nn.Module):
    """Words, a recurrent layer, attention."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.recurrent: Any = kind(8, 8, batch_first=True)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.last = nn.Linear(8, 3)

    def forward(self, words: Tensor) -> Tensor:
        steps, _ = self.recurrent(self.embed(words))
        seen, _ = self.attention(steps, steps, steps)
        return self.last(seen[:, -1])


def stack() -> nn.Module:
    return nn.Sequential(
        nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3)
    )


def images() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.GroupNorm(2, 4),
        nn.GELU(),
        nn.Conv2d(4, 4, 3, padding=1),
        nn.ConvTranspose2d(4, 6, 2, stride=2),
        nn.Flatten(),
        nn.LazyLinear(3),
    )


def signals() -> nn.Module:
    return nn.Sequential(nn.Conv1d(2, 4, 3), nn.Sigmoid(), nn.Conv1d(4, 4, 1), nn.Flatten(), nn.Linear(24, 3))


def volumes() -> nn.Module:
    return nn.Sequential(nn.Conv3d(1, 2, 2), nn.LeakyReLU(), nn.Flatten(), nn.Linear(16, 3))


def encoder() -> nn.Module:
    return nn.Sequential(
        nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), nn.Flatten(), nn.Linear(32, 3)
    )


def words() -> Tensor:
    return torch.randint(0, 11, (5, 7))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor]]] = {
    "stack": (stack, lambda: torch.randn(9, 6)),
    "images": (images, lambda: torch.randn(4, 1, 6, 6)),
    "signals": (signals, lambda: torch.randn(4, 2, 8)),
    "volumes": (volumes, lambda: torch.randn(4, 1, 3, 3, 3)),
    "encoder": (encoder, lambda: torch.randn(4, 4, 8)),
    "lstm": (lambda: Reader(nn.LSTM), words),
    "gru": (lambda: Reader(nn.GRU), words),
}


def trained(name: str) -> tuple[nn.Module, Tensor]:
    """As after a training: in evaluation mode, statistics of norm layers away from where they started."""
    torch.manual_seed(3)
    make, data = MODELS[name]
    model, x = make(), data()
    with torch.no_grad():
        for _ in range(3):
            model(x)
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return model.eval(), x


def bits(model: nn.Module) -> dict[str, bytes]:
    return {name: value.detach().contiguous().numpy().tobytes() for name, value in model.state_dict().items()}


def hooks(model: nn.Module) -> int:
    return sum(len(module._forward_hooks) for module in model.modules())


def answers(model: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        return model(x)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.code)
def test_an_operator_says_what_it_is(unit: Any) -> None:
    first, rest = page(unit)
    assert first.endswith(".") and rest
    assert unit.published and all(isinstance(name, str) for name in unit.published)


def test_the_published_operators_are_there() -> None:
    names = {name for unit in UNITS for name in unit.published}
    assert names >= {"GF", "WS", "NEB", "NAI", "NS", "LD", "LR", "LAm", "AFRm"}  # DeepMutation
    assert names >= {"DIN", "DHN", "CAF", "CBV", "CWV"}  # MuNN
    assert names >= {"weight inhibitor", "neuron inhibitor"}  # MuFF
    assert MUTANTS.problems == []


@pytest.mark.parametrize("name", MODELS)
def test_all_is_put_back_bit_for_bit(name: str) -> None:
    model, x = trained(name)
    before, said, modules = bits(model), answers(model, x), [vars(m).get("inplace") for m in model.modules()]
    for operator in MUTANTS.all():
        for place in operator.places(model):
            noticed = []
            for share in (0.2, 1.0):
                with operator.apply(model, place, share, torch.Generator().manual_seed(1)):
                    inside = answers(model, x)
                with operator.apply(model, place, share, torch.Generator().manual_seed(1)):
                    again = answers(model, x)
                assert torch.equal(inside, again), f"{operator.code} {place} is not the same twice"
                noticed.append(not torch.allclose(inside, said, atol=1e-7))
                assert bits(model) == before and hooks(model) == 0, f"{operator.code} {place} left something"
            assert any(noticed), f"{operator.code} at {place} changes nothing"
    assert torch.equal(answers(model, x), said)
    assert modules == [vars(m).get("inplace") for m in model.modules()]


def test_every_operator_has_a_place_somewhere() -> None:
    models = [trained(name)[0] for name in MODELS]
    assert all(any(operator.places(model) for model in models) for operator in MUTANTS.all())


@pytest.mark.parametrize("operator", MUTANTS.all(), ids=lambda operator: operator.code)
def test_all_is_put_back_when_an_examination_fails(operator: Any) -> None:
    model = next(model for name in MODELS if operator.places(model := trained(name)[0]))
    before = bits(model)
    with (
        pytest.raises(ZeroDivisionError),
        operator.apply(model, operator.places(model)[0], 0.5, torch.Generator()),
    ):
        raise ZeroDivisionError
    assert bits(model) == before and hooks(model) == 0


def test_what_is_asked_for_is_what_changes() -> None:
    model, _ = trained("stack")
    first = weights_of(model)[0]
    old = first.tensor.detach().clone()
    by_code = {operator.code: operator for operator in MUTANTS.all()}

    def inside(code: str, share: float) -> Tensor:
        with by_code[code].apply(model, first.name, share, torch.Generator().manual_seed(0)):
            return first.tensor.detach().clone()

    assert int((inside("W108", 0.25) == 0).sum()) == 12  # of 48 weights
    assert int((inside("W109", 0.5) == -old).sum()) == 24
    shuffled = inside("W102", 1.0)
    assert torch.equal(shuffled.sort(1).values, old.sort(1).values) and not torch.equal(shuffled, old)
    switched = inside("W105", 1.0)
    assert torch.equal(switched.sort(0).values, old.sort(0).values) and not torch.equal(switched, old)
    assert int((inside("W106", 0.25) == 0).all(1).sum()) == 2  # of 8 neurons
    assert int((inside("W107", 0.5) == 0).all(0).sum()) == 3  # of 6 inputs
    assert len(inside("W110", 1.0).unique()) <= 9


def test_a_smaller_share_is_a_part_of_a_larger_one() -> None:
    model, _ = trained("stack")
    first, operator = weights_of(model)[0], MUTANTS.classes()["W108"]()
    touched = []
    for share in (0.1, 0.5):
        with operator.apply(model, first.name, share, torch.Generator().manual_seed(4)):
            touched.append(first.tensor.detach() == 0)
    assert bool((touched[1] | ~touched[0]).all()) and int(touched[0].sum()) < int(touched[1].sum())


@pytest.mark.parametrize(("share", "place"), [(0.0, "0.weight"), (1.5, "0.weight"), (0.5, "no.such")])
def test_wrong_wishes_are_told(share: float, place: str) -> None:
    operator = MUTANTS.classes()["W101"]()
    told = "share of a layer|no place of this operator. Known places: 0.weight"
    with pytest.raises(UsageError, match=told), operator.apply(stack(), place, share, torch.Generator()):
        pass
