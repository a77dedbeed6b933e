"""Two optimisers, one of which never steps: the fault stands at the backward pass that is left without a step."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

from netmend.localise import diagnose

PROGRAM = """
G, D = nn.Linear(3, 2), nn.Linear(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3)
for step in range(80):
    fake = G(torch.randn(8, 3))
    opt_g.zero_grad()
    g_loss = F.softplus(-D(fake)).mean()
    g_loss.backward()  # <- generator
    {g}
    opt_d.zero_grad()
    d_loss = F.softplus(D(fake.detach())).mean() + F.softplus(-D(torch.randn(8, 2) + 2)).mean()
    d_loss.backward()  # <- discriminator
    {d}
"""


@pytest.mark.parametrize(("left", "mark"), [("d", "discriminator"), ("g", "generator")])
def test_the_backward_pass_that_no_step_follows(tmp_path: Path, left: str, mark: str) -> None:
    steps = {"g": "opt_g.step()", "d": "opt_d.step()", left: "pass"}
    recorded = record(tmp_path, PROGRAM.format(**steps))
    fault = diagnose(recorded.trace).faults[0]
    assert fault.cause == "LOOP-STEP" and fault.component == f"opt_{left}"
    assert recorded.at(mark, fault.site)


def test_both_step(tmp_path: Path) -> None:
    recorded = record(tmp_path, PROGRAM.format(g="opt_g.step()", d="opt_d.step()"))
    assert "LOOP-STEP" not in [fault.cause for fault in diagnose(recorded.trace).faults]
