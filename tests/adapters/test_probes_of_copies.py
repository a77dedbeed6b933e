"""`--probe`: copies of the model are trained on its first batch; the program's own does not notice."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import netmend
from netmend.vocabulary import Trace

PROGRAM = """
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
x, y = torch.randn(16, 6), torch.randint(3, (16,))
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
optimizer = torch.optim.{optimizer}
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for step in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(net({given}), y)
    loss.backward()
    optimizer.step({closure})
    scheduler.step()
state = torch.cat([p.detach().flatten() for p in net.parameters()] + [torch.rand(3)])
"""
ADAM = "Adam(net.parameters(), lr={rate})"


def run(folder: Path, optimizer: str, given: str = "x", probe: bool = True) -> tuple[Trace, torch.Tensor]:
    closure = "lambda: F.cross_entropy(net(x), y)" if "LBFGS" in optimizer else ""
    source = PROGRAM.format(optimizer=optimizer, given=given, closure=closure)
    variables: dict[str, object] = {"__name__": "__main__"}
    file = folder / "train.py"
    file.write_text(source)
    with netmend.watch(directory=folder / f"home{probe}", quiet=True, probe=probe) as watch:
        exec(compile(source, str(file), "exec"), variables)
    state = variables["state"]
    assert isinstance(state, torch.Tensor)
    assert not [event for event in watch.trace.events if event.kind == "part switched off"]
    return watch.trace, state


@pytest.mark.parametrize(
    "optimizer",
    [
        ADAM.format(rate=0.02),
        "SGD(net.parameters(), lr=0.3, momentum=0.9)",
        "RMSprop(net.parameters(), 0.01)",
    ],
)
def test_a_batch_can_be_learned_by_heart(tmp_path: Path, optimizer: str) -> None:
    trace, state = run(tmp_path, optimizer)
    assert torch.equal(state, run(tmp_path, optimizer, probe=False)[1])
    (overfit,) = trace.probes("batch overfit")
    assert overfit.values["s"] < 0.05 and overfit.values["steps"] <= 200
    (ignored,) = trace.probes("input ignored")
    assert ignored.values["s"] < 0.5 < 0.8 < ignored.values["s_shuffled"]
    (rates,) = trace.probes("rate probe")
    assert rates.values["x1"] < rates.values["x0.01"] <= 1.01


def test_rates_that_are_far_off(tmp_path: Path) -> None:
    (low,) = run(tmp_path, ADAM.format(rate=1e-6))[0].probes("rate probe")
    assert low.values["x1"] > 0.99 and low.values["x100"] < low.values["x1"]
    (tmp_path / "high").mkdir()
    (high,) = run(tmp_path / "high", "SGD(net.parameters(), lr=100.0)")[0].probes("rate probe")
    assert high.values["x1"] > 1 > high.values["x0.01"]


def test_inputs_that_are_thrown_away(tmp_path: Path) -> None:
    trace, _ = run(tmp_path, ADAM.format(rate=0.02), given="torch.zeros_like(x)")
    (overfit,) = trace.probes("batch overfit")
    assert overfit.values["s"] > 0.9
