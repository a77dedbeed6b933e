"""A loss that was computed outside the graph and made a leaf: the fault names what switches gradients off, and its edit can be run."""

from __future__ import annotations

from pathlib import Path

import pytest

import netmend
from netmend.repair.apply import applied

PROGRAM = """import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(32, 2)
    optimizer.zero_grad()
{forward}
    loss = nn.functional.mse_loss(out, x[:, :1] + 1)
    loss.requires_grad = True
    loss.backward()
    optimizer.step()
"""
RECORDED = PROGRAM.format(forward="    out = model(x)").replace("    loss.requires_grad = True\n", "")


@pytest.mark.parametrize(
    ("forward", "line"),
    [
        ("    with torch.no_grad():\n        out = model(x)", 9),
        ("    torch.set_grad_enabled(False)\n    out = model(x)\n    torch.set_grad_enabled(True)", 9),
    ],
)
def test_what_switches_gradients_off_goes_with_the_request_for_them(
    forward: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM.format(forward=forward))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["train.py"])
    with netmend.watch(quiet=True) as watched:
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    fault = watched.diagnosis.faults[0]
    assert fault.cause == "LOS-GRAPH-CUT"
    assert fault.site is not None and fault.site.line == line
    assert fault.edit is not None
    (text,) = (applied({}, fault.edit.edits) or {}).values()
    assert text.replace("    torch.set_grad_enabled(True)\n", "") == RECORDED
