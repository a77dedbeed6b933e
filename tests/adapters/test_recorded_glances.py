"""Of light steps within the allowance the loss is read, and nothing else."""

from __future__ import annotations

import numpy as np
from recording import record

from netmend.observe.schedule import LIGHT

TRAINING = """\
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(8, 4)
losses = []
for step in range(1500):
    optimizer.zero_grad()
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    losses.append(loss.item())
    optimizer.step()
"""


def test_the_curve_of_a_short_program_is_seen_though_most_steps_are_passed_over(monkeypatch, tmp_path):
    from netmend.observe.budget import Budget

    monkeypatch.setattr(Budget, "allows", lambda self, seconds=0.0: False)
    recorded = record(tmp_path, TRAINING, every=None)
    (table,) = recorded.trace.tables_of("step")
    light = table.steps[table.column("level") == LIGHT]
    assert len(light) >= 200
    for start in (128, 256, 512):
        assert ((table.steps >= start) & (table.steps < 2 * start)).sum() >= 64
    steps, seen = recorded.trace.loss
    assert np.allclose(seen, np.asarray(recorded.variables["losses"])[steps])
    assert not set(light.tolist()) & set(recorded.trace.table("update", "model.weight").steps.tolist())


def test_nothing_is_read_of_light_steps_once_the_allowance_is_used_up(monkeypatch, tmp_path):
    from netmend.observe.budget import Budget

    monkeypatch.setattr(Budget, "starting", property(lambda self: False))
    (table,) = record(tmp_path, TRAINING, every=None).trace.tables_of("step")
    assert LIGHT not in table.column("level")
