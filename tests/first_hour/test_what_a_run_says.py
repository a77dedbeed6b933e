"""What `netmend run` answers beside the fault: copies in the data, its cost, its probes, what it says meanwhile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands_typed import judged, netmend

WINDOWS = """\
import random
import torch
from torch import nn
torch.manual_seed(0)
random.seed(0)
words = "the quick brown fox jumps over a lazy dog and runs home then sleeps well".split()
text = " ".join(random.choice(words) for _ in range({words}))
text = text * {copies}
signs = sorted(set(text))
data = torch.tensor([signs.index(sign) for sign in text])
cut = int(0.9 * len(data))
train, val = data[:cut], data[cut:]


def batch(part):
    at = torch.randint(len(part) - 33, (16,))
    return torch.stack([part[i : i + 32] for i in at]), torch.stack([part[i + 1 : i + 33] for i in at])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(signs), 32)
        self.rnn = nn.GRU(32, 64, batch_first=True)
        self.head = nn.Linear(64, len(signs))

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(200):
    x, y = batch(train)
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        with torch.no_grad():
            for part in {parts}:
                x, y = batch(part)
                nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
"""

HEALTHY = """\
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(300):
    at = torch.randint(0, 600, (32,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x[at]), y[at]).backward()
    optimizer.step()
"""

SEEN = ("--overhead", "50%")  # enough of the batches on a busy machine too

ENDLESS = """\
import torch, torch.nn as nn
net = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(1))
optimizer = torch.optim.Adam(net.parameters())
for step in range(10**9):
    x = torch.randn(16, 10)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


def test_windows_of_a_repeated_text_are_in_both_parts(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WINDOWS.format(words=120, copies=40, parts="(val, val)"))
    (fault,) = [
        fault for fault in judged(tmp_path, "train.py", *SEEN)["faults"] if fault["code"] == "VAL-SPLIT"
    ]
    assert fault["site"]["line"] == 12


@pytest.mark.parametrize(("copies", "parts"), [(1, "(train, val)"), (20, "(data, data)")])
def test_a_look_at_what_was_trained_on_is_no_leak(tmp_path: Path, copies: int, parts: str) -> None:
    program = WINDOWS.format(words=400, copies=copies, parts=parts)
    if parts == "(data, data)":
        program = program.replace("train, val = data[:cut], data[cut:]", "train = data")
    (tmp_path / "train.py").write_text(program)
    assert "VAL-SPLIT" not in [fault["code"] for fault in judged(tmp_path, "train.py", *SEEN)["faults"]]


def test_the_cost_is_told_in_seconds_and_in_both_places(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY)
    told = " ".join(netmend(tmp_path, "run", "train.py").stderr.split())
    assert re.search(r"overhead [\d.]+ m?s in the loop.*, [\d.]+ m?s to judge", told)
    assert "budget 1 %" not in told
    assert told.startswith("netmend No fault found")


def test_probes_that_were_asked_for_are_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY)
    told = " ".join(netmend(tmp_path, "run", "--probe", "train.py").stderr.split())
    assert re.search(r"probe one batch, \d+ steps: memorised", told)
    shown = netmend(tmp_path, "show", "--checked", "last")
    assert re.search(r"\d+ checks: .*\d+ passed", " ".join(shown.stdout.split())), shown.stderr


def test_a_notice_while_the_program_runs_is_short_and_wrapped(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ENDLESS)
    ended = netmend(tmp_path, "run", "--stop-on", "fault", "train.py", NETMEND_LIVE_AFTER="0.1")
    notice = ended.stderr.partition("netmend: ")[0].rstrip().splitlines()
    assert 2 <= len(notice) <= 4 and max(map(len, notice)) <= 80
    assert notice[0].startswith("netmend  Softmax or sigmoid is applied twice at train.py:2")
