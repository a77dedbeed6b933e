"""What is taken from a model: any form of data, any layers, and nothing of the user's is changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from netmend.adequacy.session import adequacy
from netmend.adequacy.torch.collector import Collector
from netmend.errors import UsageError

X = torch.randn(100, 6, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()


def network() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))


class Plain:
    """A data set as users write it, without the base class."""

    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        if place >= len(X):
            raise IndexError(place)
        return X[place], Y[place]


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(zip(X, Y, strict=True))


FORMS: dict[str, Any] = {
    "tensors": (X, Y),
    "arrays": (X.numpy(), Y.numpy()),
    "double arrays": (X.numpy().astype(np.float64), Y.numpy()),
    "data set": TensorDataset(X, Y),
    "plain data set": Plain(),
    "loader": DataLoader(TensorDataset(X, Y), 7),
    "shuffling loader": DataLoader(TensorDataset(X, Y), 7, shuffle=True, drop_last=True),
    "stream": Stream(),
    "loader of a stream": DataLoader(Stream(), 9),
    "batches": [(X[:60], Y[:60]), [X[60:], Y[60:]]],
    "columns": {"input": X, "label": Y},
    "batches of columns": [{"input": X[:60], "labels": Y[:60]}, {"input": X[60:], "labels": Y[60:]}],
    "sampler without order": DataLoader(TensorDataset(X, Y), 7, sampler=range(100)),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_data_give_the_same(form: str) -> None:
    model = network()
    found = Collector(model).collect(FORMS[form], "test", 1000)
    with torch.no_grad():
        hidden = torch.relu(model[0](X))
        expected = model[3](hidden)
    np.testing.assert_allclose(found.outputs, expected, atol=1e-5)
    np.testing.assert_allclose(found.traces, hidden, atol=1e-5)
    np.testing.assert_allclose(found.layers["0"], model[0](X).detach(), atol=1e-5)
    assert found.indices.tolist() == list(range(100)) and found.labels is not None
    assert found.labels.tolist() == Y.tolist() and found.total == 100
    assert list(found.layers) == ["0", "3"] and found.trace_of == "input of layer 3"


def test_inputs_alone_have_no_labels() -> None:
    for data in (X, X.numpy(), [X[:50], X[50:]], DataLoader(TensorDataset(X), 10)):
        found = Collector(network()).collect(data, "test", 1000)
        assert found.labels is None and len(found) == 100


def test_a_subset_is_not_left_and_keeps_the_indices_of_its_data_set() -> None:
    places = [70, 3, 20]
    loader = DataLoader(TensorDataset(X, Y), 2, sampler=SubsetRandomSampler(places))
    found = Collector(network()).collect(loader, "train", 1000)
    assert found.indices.tolist() == [3, 20, 70] and found.labels is not None
    assert found.labels.tolist() == Y[[3, 20, 70]].tolist()


def test_an_order_that_cannot_be_told_again_is_said() -> None:
    sampler = WeightedRandomSampler([1.0] * 100, 40)
    found = Collector(network()).collect(DataLoader(TensorDataset(X, Y), 8, sampler=sampler), "train", 1000)
    assert len(found) == 40 and "order in which they came" in found.notes[0]


def test_a_limit_chooses_at_random_where_it_can() -> None:
    found = Collector(network()).collect((X, Y), "train", 30)
    assert len(found) == 30 and found.total == 100 and found.indices.tolist() != list(range(30))
    assert found.labels is not None and found.labels.tolist() == Y[found.indices].tolist()
    stream = Collector(network()).collect(DataLoader(Stream(), 8), "train", 30)
    assert len(stream) == 32 and "first 32 inputs" in stream.notes[-1] and stream.total is None


# -- the model is left as it was -----------------------------------------------------------------------------------------


def hooks(model: nn.Module) -> int:
    return sum(len(one._forward_hooks) + len(one._forward_pre_hooks) for one in model.modules())


def test_nothing_of_the_model_or_of_chance_is_changed() -> None:
    model = network().train()
    model[1].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    states = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # type: ignore[index]
    adequacy(model, DataLoader(TensorDataset(X, Y), 16, shuffle=True), (X[:40], Y[:40]), X)
    assert [one.training for one in model.modules()] == [True, True, False, True, True]
    assert hooks(model) == 0 and all(one.grad is None for one in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(states[0], torch.get_rng_state()) and states[2] == random.getstate()
    assert (states[1] == np.random.get_state()[1]).all()  # type: ignore[index]


def test_hooks_and_modes_go_back_when_the_model_fails() -> None:
    model = network().train()
    with pytest.raises(
        UsageError, match=r"cannot be called with a batch of test: RuntimeError.*forward=lambda"
    ):
        Collector(model).collect(torch.zeros(4, 5), "test", 10)
    broken = [(X[:10], Y[:10]), (X[:10, :5], Y[:10])]
    with pytest.raises(UsageError):
        Collector(model).collect(broken, "test", 100)
    assert hooks(model) == 0 and all(one.training for one in model.modules())


# -- layers of all kinds -----------------------------------------------------------------------------------------------


class Text(nn.Module):
    def __init__(self, batch_first: bool) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 5)
        self.memory = nn.GRU(5, 7, batch_first=batch_first)
        self.head = nn.Linear(7, 3)
        self.batch_first = batch_first

    def forward(self, tokens: Tensor) -> Tensor:
        made = self.words(tokens if self.batch_first else tokens.T)
        out, _ = self.memory(made)
        return self.head(out[:, -1] if self.batch_first else out[-1])


@pytest.mark.parametrize("batch_first", [True, False])
def test_sequences_are_averaged_over_their_places(batch_first: bool) -> None:
    torch.manual_seed(0)
    model = Text(batch_first)
    tokens = torch.randint(0, 20, (9, 4))
    found = Collector(model).collect((tokens, torch.zeros(9).long()), "test", 100)
    with torch.no_grad():
        words = model.words(tokens)
        memory = model.memory(words if batch_first else words.transpose(0, 1))[0]
    np.testing.assert_allclose(found.layers["words"], words.mean(1), atol=1e-6)
    expected = memory.mean(1) if batch_first else memory.mean(0)
    np.testing.assert_allclose(found.layers["memory"], expected, atol=1e-6)
    assert found.traces.shape == (9, 7) and found.layers["head"].shape == (9, 3)


def test_channels_of_images_are_averaged_and_a_model_without_linear_layers_works() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 3, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )
    images = torch.randn(6, 1, 5, 5)
    found = Collector(model).collect(images, "test", 100)
    with torch.no_grad():
        first = model[0](images)
    np.testing.assert_allclose(found.layers["0"], first.mean((2, 3)), atol=1e-6)
    np.testing.assert_allclose(found.traces, first.relu().mean((2, 3)), atol=1e-6)
    assert found.trace_of == "input of layer 2"


def test_a_layer_can_be_named() -> None:
    model = network()
    found = Collector(model, layer="1").collect((X, Y), "test", 1000)
    np.testing.assert_allclose(found.traces, model[0](X).relu().detach(), atol=1e-6)
    assert found.trace_of == "output of layer 1"
    with pytest.raises(UsageError, match="no layer 'head'; it has 0, 1, 2, 3"):
        Collector(model, layer="head").collect((X, Y), "test", 1000)


def test_places_folded_into_the_batch_are_unfolded() -> None:
    class Folded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.each, self.head = nn.Linear(2, 4), nn.Linear(12, 2)

        def forward(self, x: Tensor) -> Any:
            made = self.each(x.reshape(-1, 2))
            return self.head(made.reshape(len(x), -1))

    model = Folded()
    found = Collector(model).collect((X, Y), "test", 1000)
    np.testing.assert_allclose(
        found.layers["each"], model.each(X.reshape(100, 3, 2)).mean(1).detach(), atol=1e-6
    )


def test_very_wide_layers_are_kept_small() -> None:
    model = nn.Sequential(nn.Linear(6, 3000), nn.Linear(3000, 2))
    found = Collector(model).collect((X, Y), "test", 1000)
    assert found.traces.shape == (100, 512) and found.layers["0"].shape == (100, 256)
    hidden = model[0](X).detach()
    expected = torch.cdist(hidden[:5], hidden[:5])[0, 1:]
    seen = np.linalg.norm(found.traces[0] - found.traces[1:5], axis=1)
    np.testing.assert_allclose(seen, expected, rtol=0.2)


class Several(nn.Module):
    """Takes two inputs, answers as large libraries do."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(6, 3)

    def forward(self, ids: Tensor, mask: Tensor) -> Any:
        return SimpleNamespace(loss=None, logits=self.head(ids * mask))


def test_models_with_several_inputs_and_objects_as_answers() -> None:
    mask = torch.ones(100, 6)
    columns = {"ids": X, "mask": mask, "labels": Y, "names": torch.zeros(100)}
    first = Collector(Several()).collect(columns, "test", 1000)
    second = Collector(Several()).collect((X, mask, Y), "test", 1000)
    for found in (first, second):
        assert found.outputs is not None and found.outputs.shape == (100, 3)
        assert found.labels is not None and found.labels.tolist() == Y.tolist()


def test_the_user_can_say_how_a_batch_is_given() -> None:
    batches = [{"first": X[:50], "rest": (X[:50], Y[:50])}, {"first": X[50:], "rest": (X[50:], Y[50:])}]
    found = Collector(network(), forward=lambda model, batch: model(batch["first"])).collect(
        batches, "test", 99
    )
    assert found.outputs is not None and len(found) == 100


def test_wrappers_are_looked_through() -> None:
    model = network()
    found = Collector(nn.DataParallel(model)).collect((X, Y), "test", 1000)
    assert list(found.layers) == ["0", "3"]


def test_half_precision_and_images_as_answers() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1)).to(torch.bfloat16)
    found = Collector(model).collect(torch.randn(6, 1, 5, 5).bfloat16(), "test", 100)
    assert found.outputs is None and found.traces.dtype == np.float32


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (7, "test is of type int; give a DataLoader"),
        ((X, Y[:50]), "columns of different lengths \\(100, 50\\)"),
        ([], "test holds no inputs"),
        (np.array(["a", "b"]), "give numbers"),
    ],
)
def test_data_that_cannot_be_used_is_refused(data: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Collector(network()).collect(data, "test", 100)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(UsageError, match="model is of type str"):
        Collector("model.pt")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="limit must be at least 2 inputs, got 0"):
        adequacy(network(), X, X, limit=0)
    with pytest.raises(UsageError, match="count must be at least 1"):
        adequacy(network(), X, X, count=0)


def test_random_transforms_are_drawn_alike_each_time() -> None:
    class Noisy(Dataset[Any]):
        def __len__(self) -> int:
            return 20

        def __getitem__(self, place: int) -> Any:
            return X[place] + torch.randn(6), Y[place]

    first, second = (Collector(network()).collect(Noisy(), "train", 100) for _ in range(2))
    np.testing.assert_array_equal(first.traces, second.traces)
