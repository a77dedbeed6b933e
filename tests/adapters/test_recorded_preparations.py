"""What happens before the first step, beside it or in workers: initialisers, collate functions, worker seeds, modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from recording import Recorded, record

from netmend.adapters.torch.watch.loaders import copied_to_workers
from netmend.vocabulary import FunctionFact

LOOP = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    optimizer.zero_grad()
    loss = net(torch.randn(8, 4)).square().mean()
    loss.backward()
    optimizer.step()
"""


def values(recorded: Recorded, what: str) -> list[dict[str, Any]]:
    return [dict(probe.values) for probe in recorded.trace.probes(what)]


WALK = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        self.apply(self.start)

    def start(self, module):
        for p in module.parameters({0}):
            nn.init.normal_(p)  # <- start

    def forward(self, x):
        return self.body(x)

net = Net()
for layer in net.body:
    layer.reset_parameters()
"""


def test_parameters_that_one_line_initialises_again_and_again(tmp_path: Path) -> None:
    recorded = record(tmp_path, WALK.format("") + LOOP)
    (probe,) = recorded.trace.probes("initialised again")
    assert (probe.values["parameters"], probe.values["most"]) == (4, 3)  # itself, the sequence, the network
    assert recorded.at("start", probe.site)


def test_a_module_s_own_parameters_are_initialised_once(tmp_path: Path) -> None:
    recorded = record(tmp_path, WALK.format("recurse=False") + LOOP)
    assert values(recorded, "initialised again") == []


SPECTRAL = """
net = nn.Sequential(nn.utils.spectral_norm(nn.Linear(4, 16)), nn.ReLU(), nn.Linear(16, 1))
{0}
net.eval()
with torch.no_grad():
    net(torch.randn(8, 4))  # <- call
net.train()
"""


def test_spectral_norm_in_eval_mode_before_and_after_its_first_training_pass(tmp_path: Path) -> None:
    recorded = record(tmp_path, SPECTRAL.format("") + LOOP)
    (probe,) = recorded.trace.probes("spectral estimate")
    assert probe.values["agreement"] < 0.9 and recorded.at("call", probe.site)


def test_spectral_norm_after_its_first_training_pass(tmp_path: Path) -> None:
    recorded = record(tmp_path, SPECTRAL.format("net(torch.randn(8, 4))") + LOOP)
    (found,) = values(recorded, "spectral estimate")
    assert found["agreement"] == pytest.approx(1.0, abs=1e-5)


FREEZING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.head(torch.relu(self.stem(x)))

    def freeze(self):
        for p in self.stem.parameters():
            p.requires_grad = False

    def train(self, mode=True):  # <- train
        super().train(mode)
        self.freeze()
        return self

net = Net()
"""


def test_a_train_of_the_model_s_own_that_comes_too_late(tmp_path: Path) -> None:
    recorded = record(tmp_path, FREEZING + LOOP + "net.eval()\n")
    (probe,) = recorded.trace.probes("frozen late")
    assert (probe.values["count"], probe.values["steps"]) == (40, 6)
    assert recorded.at("train", probe.site)


def test_a_train_that_runs_in_time_is_no_matter(tmp_path: Path) -> None:
    recorded = record(tmp_path, FREEZING + "net.train()\n" + LOOP + "net.eval()\n")
    assert values(recorded, "frozen late") == []


COLLATE = """
from torch.utils.data import DataLoader
def collate(samples):  # <- collate
    return torch.stack({0})
samples = [torch.randn(4) for _ in range(24)]
loader = DataLoader(samples, batch_size=8, collate_fn=collate)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for x in loader:
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
kept = loader.collate_fn is collate
"""


@pytest.mark.parametrize(("kept", "made", "rows"), [("samples", 32, 8), ("samples[:1]", 4, 1)])
def test_what_a_collate_function_makes_of_its_samples(
    tmp_path: Path, kept: str, made: int, rows: int
) -> None:
    recorded = record(tmp_path, COLLATE.format(kept))
    (probe,) = recorded.trace.probes("collation")
    assert probe.values == {"samples": 8, "given": 32, "made": made, "rows": (rows,)}
    assert recorded.at("collate", probe.site) and recorded.variables["kept"]


def test_dropout_inside_fused_attention_is_a_dropout(tmp_path: Path) -> None:
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x):
        h = self.inp(x).view(2, 1, 4, 8)
        h = F.scaled_dot_product_attention(h, h, h, dropout_p=0.25)  # <- attention
        return self.out(h)

net = Net()
"""
    recorded = record(tmp_path, program + LOOP)
    (fact,) = [fact for fact in recorded.trace.all(FunctionFact) if fact.kind == "dropout"]
    assert fact.settings["p"] == 0.25 and recorded.at("attention", fact.site)


class Noisy(torch.utils.data.Dataset):
    """Keeps a generator; whether samples are made with it is told by the class."""

    def __init__(self) -> None:
        import random

        self.random = random.Random(0)

    def __len__(self) -> int:
        return 4

    def noise(self) -> float:
        return self.random.random()

    def __getitem__(self, index: int) -> float:
        return index + self.noise()


class Plain(Noisy):
    def __getitem__(self, index: int) -> float:
        return float(index)


def by_number(worker: int) -> None:
    torch.manual_seed(worker)


def all_alike(worker: int) -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize(
    ("dataset", "workers", "prepare", "expected"),
    [
        (Noisy, 2, None, ("Random", "random")),
        (Noisy, 0, None, None),
        (Noisy, 1, None, None),
        (Plain, 2, None, None),
        (Noisy, 2, by_number, None),
        (Plain, 2, all_alike, ("seed", "all_alike")),
    ],
)
def test_what_all_workers_draw_alike(dataset: Any, workers: int, prepare: Any, expected: Any) -> None:
    loader = torch.utils.data.DataLoader(dataset(), num_workers=workers, worker_init_fn=prepare)
    found = copied_to_workers(loader)
    assert (found and (found.kind, found.name)) == expected
