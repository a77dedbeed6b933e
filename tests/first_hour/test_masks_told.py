"""Masks of attention: what is told where they hide everything, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_typed import judged

PROGRAM = """\
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
PAD, V, C = 0, 40, 32
tokens = torch.randint(1, V, (256, 14))
for row, length in enumerate(torch.randint(5, 13, (256,))):
    tokens[row, length:] = PAD
labels = (tokens[:, 0] > V // 2).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, C, padding_idx=PAD)
        self.out = nn.Linear(C, 2)

    def forward(self, x):
        h = self.embed(x)
{body}
        real = (x != PAD).unsqueeze(-1)
        return self.out((h * real).sum(1) / real.sum(1))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(60):
    at = torch.randint(256, (32,))
    loss = F.cross_entropy(net(tokens[at]), labels[at])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BY_HAND = """\
        hidden = {mask}  # <- here
        scores = h @ h.transpose(1, 2) / C ** 0.5
        scores = scores.masked_fill(hidden, float("-inf"))
        h = scores.softmax(-1) @ h"""
ADDED = """\
        hidden = {mask}  # <- here
        bias = torch.zeros(hidden.shape).masked_fill(hidden, float("-inf"))
        h = torch.softmax(h @ h.transpose(1, 2) + bias, dim=-1) @ h"""
ROWS = "(x {sign} PAD)[:, None, :] | (x {sign} PAD)[:, :, None]"


def told(folder: Path, body: str) -> tuple[list[str], list[int], str, int]:
    text = PROGRAM.format(body=body)
    (folder / "train.py").write_text(text)
    faults = judged(folder, "train.py")["faults"]
    mark = next((n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# <- here")), 0)
    return (
        [fault["code"] for fault in faults],
        [fault["site"]["line"] for fault in faults if fault["site"]],
        " ".join(fault["remedy"] for fault in faults),
        mark,
    )


@pytest.mark.parametrize("body", [BY_HAND, ADDED], ids=["filled", "added"])
def test_a_mask_that_hides_whole_rows(tmp_path: Path, body: str) -> None:
    codes, lines, remedy, here = told(tmp_path, body.format(mask=ROWS.format(sign="!=")))
    assert codes[0] == "INP-MASK-MISSING"
    assert lines[0] == here
    assert "Turn the mask round" in remedy


def test_a_causal_mask_that_hides_the_first_position(tmp_path: Path) -> None:
    mask = "torch.ones(14, 14, dtype=torch.bool).triu(0)"
    codes, lines, remedy, here = told(tmp_path, BY_HAND.format(mask=mask))
    assert codes[0] == "INP-MASK-MISSING"
    assert lines[0] == here
    assert "see itself" in remedy


@pytest.mark.parametrize("body", [BY_HAND, ADDED], ids=["filled", "added"])
def test_a_mask_of_the_padding(tmp_path: Path, body: str) -> None:
    codes, _, _, _ = told(tmp_path, body.format(mask="(x == PAD)[:, None, :].expand(-1, 14, -1)"))
    assert codes == []
