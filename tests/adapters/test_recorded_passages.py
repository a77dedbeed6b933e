"""Narrow layers that the rest of the network goes around are known from the graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

PROGRAM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.narrow, self.wide, self.out = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(2, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = torch.relu(self.body(x))
        {forward}


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    out = net(torch.randn(6, 4))
    loss = sum(part.square().mean() for part in out)
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        ("return (self.out(self.wide(self.narrow(x))),)", set()),
        ("return (self.out(x + self.wide(self.narrow(x))),)", {"net.narrow"}),
        ("return self.narrow(x), self.out(x)", {"net.narrow"}),
        ("return (self.out(x * self.narrow(x)[:, :1].sigmoid()),)", {"net.narrow"}),
    ],
    ids=["the only way", "adapter", "head", "gate"],
)
def test_ways_around_narrow_layers(tmp_path: Path, forward: str, expected: set[str]) -> None:
    done = record(tmp_path, PROGRAM.format(forward=forward))
    assert {probe.component for probe in done.trace.probes("way around")} == expected
