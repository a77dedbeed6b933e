"""What must not be lost between closely watched steps: evaluation passes, iterations without an optimiser, loose tensors."""

from __future__ import annotations

from pathlib import Path

from recording import record

START = """
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(600, 4), torch.randn(600, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
"""


def test_iterations_without_an_optimiser_are_all_counted(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
for step in range(700):
    loss = nn.functional.mse_loss(net(x[:20]), y[:20])
    net.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.01 * p.grad
""",
        every=None,
    )
    assert done.trace.run.steps == 700


def test_evaluation_passes_are_seen_on_steps_that_are_passed_over(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(15):
    for step in range(40):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x[:20]), y[:20]).backward()
        optimizer.step()
    with torch.no_grad():
        net(x)
""",
        every=None,
    )
    passes = [
        p
        for p in done.trace.patterns
        for c in p.calls
        if c.what == "forward" and c.detail == "train, no_grad"
    ]
    assert sum(pattern.steps for pattern in passes) == 15
    assert [call.what for call in done.trace.patterns[-1].calls][-2:] == ["forward", "end"]


def test_tensors_that_belong_to_no_module(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = net
        self.scale = torch.ones(1, requires_grad=True)
    def forward(self, x):
        return self.inner(x) * self.scale
model = Scaled()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for step in range(8):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
""",
    )
    (event,) = [event for event in done.trace.events if event.kind == "loose parameter"]
    assert event.component == "model.scale" and event.detail["class"] == "Scaled"
