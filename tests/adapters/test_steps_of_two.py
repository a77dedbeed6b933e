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


GAME = """
G = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr={g})
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3)
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
for step in range(300):
    fake = G(torch.randn(32, 8))
    angle = torch.rand(32, 1) * 6.2832
    real = torch.cat([angle.cos(), angle.sin()], 1)
    opt_d.zero_grad()
    d_loss = F.binary_cross_entropy_with_logits(D(real), ones) + F.binary_cross_entropy_with_logits(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    g_loss = F.binary_cross_entropy_with_logits(D(fake), ones)
    g_loss.backward()
    opt_g.step()
"""


@pytest.mark.parametrize(("rate", "told"), [("0.5", ["HYP-LR-HIGH"]), ("1e-3", [])])
def test_the_rate_of_one_of_two_that_pull_against_each_other(
    tmp_path: Path, rate: str, told: list[str]
) -> None:
    faults = diagnose(record(tmp_path, GAME.format(g=rate)).trace).faults
    assert [fault.cause for fault in faults] == told
    assert all(fault.component == "opt_g" for fault in faults)
