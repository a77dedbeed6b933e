"""A model whose output is taken out of the graph, and told to require gradients anew: backward() runs and reaches no weight."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

from netmend.localise import diagnose

PROGRAM = """
x, y = torch.randn(40, 6), torch.arange(40) % 3
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(net.parameters())
for step in range(12):
    out = net(x)
    {change}
    loss = F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CUTS = (
    "out = out.detach().requires_grad_()  # <- cut",
    "out = torch.tensor(out.tolist(), requires_grad=True)  # <- cut",
    "out = torch.autograd.Variable(out.data, requires_grad=True)  # <- cut",
)


@pytest.mark.parametrize("change", CUTS)
def test_the_line_that_cuts_the_whole_model_off(tmp_path: Path, change: str) -> None:
    done = record(tmp_path, PROGRAM.format(change=change))
    (fault,) = diagnose(done.trace).faults
    assert fault.cause == "LOS-GRAPH-CUT"
    assert done.at("cut", fault.site)


def test_a_model_that_is_reached(tmp_path: Path) -> None:
    done = record(tmp_path, PROGRAM.format(change="target_of_another = out.detach().requires_grad_()"))
    assert "LOS-GRAPH-CUT" not in [fault.cause for fault in diagnose(done.trace).faults]
