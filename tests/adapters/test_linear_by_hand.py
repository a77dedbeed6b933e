"""Networks of parameters and functions without anything nonlinear between: seen by experiment, on single samples too."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

from netmend.localise import diagnose

PROGRAM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2, self.w3 = (nn.Parameter(torch.randn(a, b) * 0.2) for a, b in ((12, 20), (20, 20), (20, 3)))
    def forward(self, x):
        {first}  # <- first
        {rest}
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(64, 12)
y = {y}
for step in range(40):
    at = torch.arange(step, step + {batch}) % 64
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""
PLAIN = {"first": "h = x @ self.w1", "rest": "return h @ self.w2 @ self.w3"}
FUNCTIONS = {"first": "h = F.linear(x, self.w1.t())", "rest": "h = F.dropout(F.linear(h, self.w2.t()), 0.1, self.training)\n        return h @ self.w3"}  # fmt: skip
BENT = {"first": "h = torch.relu(x @ self.w1)", "rest": "return (h @ self.w2).relu() @ self.w3"}
ONE = {"first": "h = x @ self.w1", "rest": "return h[:, :3]"}
CLASSES = {"y": "(x[:, 0] * x[:, 1] > 0).long()", "loss": "F.cross_entropy(net(x[at]), y[at])"}
NUMBERS = {"y": "x[:, :3]", "loss": "F.mse_loss(net(x[at]), y[at])"}


@pytest.mark.parametrize("batch", [1, 16])
@pytest.mark.parametrize("forward", [PLAIN, FUNCTIONS], ids=["products", "functions"])
def test_nothing_between_the_layers(tmp_path: Path, forward: dict[str, str], batch: int) -> None:
    found = record(tmp_path, PROGRAM.format(**forward, **CLASSES, batch=batch))
    (fault,) = [fault for fault in diagnose(found.trace).faults if fault.cause == "ACT-HID-MISSING"]
    assert found.at("first", fault.site)


@pytest.mark.parametrize("batch", [1, 16])
@pytest.mark.parametrize(
    ("forward", "task"),
    [(BENT, CLASSES), (PLAIN, NUMBERS), (ONE, CLASSES)],
    ids=["bent", "linear on purpose", "one layer"],
)
def test_what_is_in_order(tmp_path: Path, forward: dict[str, str], task: dict[str, str], batch: int) -> None:
    found = record(tmp_path, PROGRAM.format(**forward, **task, batch=batch))
    assert "ACT-HID-MISSING" not in [fault.cause for fault in diagnose(found.trace).faults]
