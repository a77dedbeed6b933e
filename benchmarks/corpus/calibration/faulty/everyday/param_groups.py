import os

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(int(os.environ.get("SEED", 0)))
d = load_digits()
X = torch.tensor((d.data - 8) / 8, dtype=torch.float32)
y = torch.tensor(d.target)


class TwoPart(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 32), nn.Sigmoid(), nn.Linear(32, 32), nn.Sigmoid(), nn.Linear(32, 32), nn.Sigmoid())
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.encoder(x))


net = TwoPart()
lr = {"encoder": 1e-5, "head": 1e-4}
optimizer = torch.optim.AdamW([{"params": getattr(net, k).parameters(), "lr": v} for k, v in lr.items()], weight_decay=1e-2)
best = 0
for epoch in range(12):
    for b in torch.randperm(1400).split(32):
        loss = nn.functional.cross_entropy(net(X[b]), y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (net(X[1400:]).argmax(1) == y[1400:]).float().mean().item()
    best = max(best, acc)
    print(f"epoch {epoch} train loss {loss.item():.4f} val acc {acc:.4f}")
