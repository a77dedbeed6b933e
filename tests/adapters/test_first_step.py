"""Sequences of which only the first step reaches the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

from netmend.localise import diagnose

PROGRAM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {layers}
        self.out = nn.Linear(8, 3)
    def forward(self, x):
        {forward}
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(40):
    {data}
    y = torch.arange(12) % 3
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
SERIES, TOKENS = "x = torch.randn(12, 9, 6)", "x = torch.randint(0, 20, (12, 9))"
LSTM = "self.rnn = nn.LSTM(6, 8, batch_first=True)"
GRU = "self.e = nn.Embedding(20, 6); self.rnn = nn.GRU(6, 8)"
HEAD = "self.a = nn.Linear(6, 8); self.att = nn.MultiheadAttention(8, 2, batch_first=True)"


def told(folder: Path, layers: str, forward: str, data: str) -> list[str]:
    recorded = record(folder, PROGRAM.format(layers=layers, forward=forward, data=data))
    faults = [fault for fault in diagnose(recorded.trace).faults if "first one only" in fault.summary]
    assert all(recorded.at("here", fault.site) for fault in faults)
    return [fault.cause for fault in faults]


FAULTY = {
    "first output": (LSTM, "out, _ = self.rnn(x)\n        return self.out(out[:, 0, :])  # <- here", SERIES),
    "first rows that are alike": (LSTM, "out, _ = self.rnn(x)\n        return self.out(out[:, 0])  # <- here", SERIES + "; x[:, 0] = 0"),
    "time first inside": (GRU, "out, _ = self.rnn(self.e(x).permute(1, 0, 2))\n        return self.out(out[0])  # <- here", TOKENS),
}  # fmt: skip
HEALTHY = {
    "last output": (LSTM, "out, _ = self.rnn(x)\n        return self.out(out[:, -1, :])", SERIES),
    "last of time first": (GRU, "out, _ = self.rnn(self.e(x).permute(1, 0, 2))\n        return self.out(out[-1])", TOKENS),
    "first token that attends": (HEAD, "h = self.a(x)\n        return self.out(self.att(h, h, h)[0][:, 0])", SERIES),
    "no input matters": (LSTM, "out, _ = self.rnn(0 * x)\n        return self.out(out[:, -1])", SERIES),
    "both directions": ("self.rnn = nn.LSTM(6, 4, batch_first=True, bidirectional=True)", "out, _ = self.rnn(x)\n        return self.out(out[:, 0])", SERIES),
    "mean over time": (LSTM, "return self.out(self.rnn(x)[0].mean(1))", SERIES),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_only_the_first_step_counts(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, *FAULTY[name]) == ["TSR-INDEX"]


@pytest.mark.parametrize("name", HEALTHY)
def test_every_step_counts(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, *HEALTHY[name]) == []
