"""Statistics of activations, against the same numbers worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from recording import Recorded, record
from torch import Tensor

from netmend.vocabulary import COLUMNS

PROGRAM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 6, 3)
        self.relu = nn.ReLU()
        self.first = nn.Linear(24, 10)
        self.tanh = nn.Tanh()
        self.second = nn.Linear(10, 5)
        self.gate = nn.Sigmoid()
        self.third = nn.Linear(5, 4)
        self.head = nn.Linear(4, 3)
        self.seen = {}

    def keep(self, name, value):
        self.seen.setdefault(name, []).append(value.detach().clone())
        return value

    def forward(self, x):
        x = self.keep("net.conv", self.conv(x))
        x = self.keep("net.relu", self.relu(x)).flatten(1)
        x = self.keep("net.tanh", self.tanh(self.keep("net.first", self.first(x)) * 4))
        x = self.keep("net.gate", self.gate(self.keep("net.second", self.second(x)) * 20))
        x = self.keep("functional", F.relu(self.third(x)))  # <- functional
        return self.keep("net.head", self.head(x))


net = Net()
with torch.no_grad():
    net.conv.weight[:2] = -1.0
    net.conv.bias[:2] = -10.0
x, y = torch.randn(12, 1, 6), torch.arange(12) % 3
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("activations"), PROGRAM)


def row(done: Recorded, component: str, step: int) -> dict[str, float]:
    table = done.trace.table("activation", component)
    assert table.steps.tolist() == [0, 1, 2]
    return dict(zip(COLUMNS["activation"], table.values[step].tolist(), strict=True))


def values(done: Recorded, component: str, step: int) -> Tensor:
    kept: Tensor = done.variables["net"].seen[component][step]
    return kept


@pytest.mark.parametrize(
    "component", ["net.conv", "net.relu", "net.first", "net.tanh", "net.gate", "net.head"]
)
@pytest.mark.parametrize("step", [0, 2])
def test_moments(done: Recorded, component: str, step: int) -> None:
    found, kept = row(done, component, step), values(done, component, step).double()
    assert found["mean"] == pytest.approx(float(kept.mean()), abs=1e-6)
    assert found["std"] == pytest.approx(float(kept.std(correction=0)), rel=1e-4)
    assert found["rms"] == pytest.approx(float(kept.square().mean().sqrt()), rel=1e-5)
    assert found["minimum"] == pytest.approx(float(kept.min()), rel=1e-6)
    assert found["maximum"] == pytest.approx(float(kept.max()), rel=1e-6)
    assert found["nonfinite"] == 0


def test_functional_activations_have_rows_too(done: Recorded) -> None:
    component = f"net.relu@train.py:{done.line('functional')}"
    found, kept = row(done, component, 1), values(done, "functional", 1)
    assert found["mean"] == pytest.approx(float(kept.mean()), rel=1e-5)
    assert found["zero_share"] == pytest.approx(float((kept == 0).float().mean()))


def test_share_of_zeros_and_of_units_that_are_silent_on_every_sample(done: Recorded) -> None:
    found, kept = row(done, "net.relu", 0), values(done, "net.relu", 0)
    assert found["zero_share"] == pytest.approx(float((kept == 0).float().mean()))
    silent = (kept.amax(dim=(0, 2)) <= 0).float().mean()
    # Channels are the units of a convolution: exactly the two that were forced down never speak.
    assert found["silent_share"] == pytest.approx(float(silent)) == pytest.approx(2 / 6)


def test_saturation_of_bounded_activations(done: Recorded) -> None:
    tanh, gate = values(done, "net.tanh", 0), values(done, "net.gate", 0)
    assert row(done, "net.tanh", 0)["saturated_share"] == pytest.approx(
        float((tanh.abs() > 0.99).float().mean())
    )
    expected = float(((gate < 0.01) | (gate > 0.99)).float().mean())
    assert row(done, "net.gate", 0)["saturated_share"] == pytest.approx(expected) and expected > 0
    assert math.isnan(row(done, "net.first", 0)["saturated_share"])


def test_spread_between_samples(done: Recorded) -> None:
    kept = values(done, "net.head", 0)
    few = kept[:: max(1, len(kept) // 8)][:8]
    apart = (few - few.mean(0)).square().mean().sqrt() / kept.square().mean().sqrt()
    assert row(done, "net.head", 0)["sample_spread"] == pytest.approx(float(apart), rel=1e-5)


def small(layers: str, change: str = "pass") -> str:
    return f"""
net = nn.Sequential({layers})
{change}
x, y = torch.randn(12, 4), torch.arange(12) % 3
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(2):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""


def test_an_output_that_ignores_its_input_has_no_spread(tmp_path: Path) -> None:
    done = record(tmp_path, small("nn.Linear(4, 3)", "nn.init.zeros_(net[0].weight)"))
    assert done.trace.series("activation", "net.0", "sample_spread")[1][0] == pytest.approx(0.0, abs=1e-6)


def test_std_is_exact_when_the_mean_is_far_larger(tmp_path: Path) -> None:
    program = small(
        "nn.Linear(4, 500), nn.Linear(500, 3)",
        "nn.init.constant_(net[0].bias, 300.0); nn.init.normal_(net[0].weight, 0, 0.01)",
    )
    done = record(tmp_path, program)
    with torch.no_grad():
        spread = float(done.variables["net"][0](done.variables["x"]).double().std(correction=0))
    # The weights moved a little in two steps: the magnitude is what counts.
    assert done.trace.series("activation", "net.0", "std")[1][0] == pytest.approx(spread, rel=0.5)


def test_dead_network_is_silent(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        small("nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)", "nn.init.constant_(net[0].bias, -100.0)"),
    )
    assert done.trace.series("activation", "net.1", "silent_share")[1].tolist() == [1.0, 1.0]
    assert done.trace.series("activation", "net.1", "zero_share")[1].tolist() == [1.0, 1.0]
    assert done.trace.series("gradient", "net.0.weight", "zero_share")[1].tolist() == [1.0, 1.0]
    assert done.trace.series("update", "net.0.weight", "unchanged_share")[1].tolist() == [1.0, 1.0]


def test_activations_of_evaluation_passes_do_not_count(tmp_path: Path) -> None:
    program = (
        small("nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)")
        + """
net.eval()
with torch.no_grad():
    F.cross_entropy(net(x * 1000), y)
net.train()
optimizer.zero_grad()
F.cross_entropy(net(x), y).backward()
optimizer.step()
"""
    )
    done = record(tmp_path, program)
    assert done.trace.series("activation", "net.0", "maximum")[1].max() < 10


def test_shared_modules_are_measured_at_their_first_call(tmp_path: Path) -> None:
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Linear(4, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        first = self.block(x)
        if not hasattr(self, "kept"):
            self.kept = first.detach().mean().item()
        return self.head(self.block(first + 100))

net = Net()
x, y = torch.randn(12, 4), torch.arange(12) % 3
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(2):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
    done = record(tmp_path, program)
    steps, means = done.trace.series("activation", "net.block", "mean")
    assert steps.tolist() == [0, 1]
    assert means[0] == pytest.approx(done.variables["net"].kept, rel=1e-5)


def test_training_a_model_in_eval_mode_is_still_training(tmp_path: Path) -> None:
    done = record(tmp_path, small("nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)", "net.eval()"))
    assert len(done.trace.loss[0]) == 2 and len(done.trace.table("activation", "net.0")) == 2
    details = {call.detail for call in done.calls_of(1) if call.what == "forward"}
    assert details == {"eval, grad"}
    assert not done.module("net.1").training
