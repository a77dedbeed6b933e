# Which motion is it? GRU over variable length 3-axis accelerometer traces (packed sequences).
import math
import os

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(int(os.environ.get("SEED", "0")))
MOTIONS = ("walk", "run", "stairs", "sit")


def trace(kind):
    length = int(torch.randint(20, 41, ()))
    t = torch.arange(length) * 0.1
    ph = torch.rand(3) * 0.7
    f, a, slope = {0: (1.0, 1.0, 0.0), 1: (2.2, 1.6, 0.0), 2: (1.0, 1.0, 0.35), 3: (0.1, 0.1, 0.0)}[kind]
    f = f * (0.85 + 0.3 * torch.rand(()))
    axes = [a * torch.sin(2 * math.pi * f * t + p) for p in ph]
    axes[2] = axes[2] + slope * t
    return torch.stack(axes, 1) + 0.3 * torch.randn(length, 3)


def build(n):
    labels = torch.randint(0, 4, (n,)).tolist()
    return [(trace(k), k) for k in labels]


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor(labels)


class MotionGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(3, hidden, batch_first=True)
        self.cls = nn.Linear(hidden, len(MOTIONS))

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.cls(h[-1])


train = DataLoader(build(800), batch_size=40, shuffle=True, collate_fn=collate)
valid = DataLoader(build(300), batch_size=100, collate_fn=collate)
net = MotionGRU()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
crit = nn.CrossEntropyLoss()

for ep in range(8):
    net.train()
    acc_loss = 0.0
    for x, lens, y in train:
        opt.zero_grad()
        loss = crit(net(x, lens), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        acc_loss += loss.item()
    net.eval()
    hits = 0
    with torch.no_grad():
        for x, lens, y in valid:
            hits += (net(x, lens).argmax(-1) == y).sum().item()
    print(f"epoch {ep + 1}  loss {acc_loss / len(train):.4f}  valid acc {hits / 300:.3f}")
