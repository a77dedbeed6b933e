import os
import numpy as np
import torch
import torch.nn as nn

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)


def crescents(n):
    t = rng.uniform(0, np.pi, n)
    k = rng.integers(0, 2, n)
    pts = np.where(k[:, None] == 0, np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.4 - np.sin(t)])
    pts = pts + rng.normal(0, 0.12, (n, 2))
    return torch.tensor(pts, dtype=torch.float32), torch.tensor(k, dtype=torch.float32)


class CrescentTrainer:
    eps = 1.0
    rate = 2e-3

    def __init__(self):
        self.model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
        self.loss = nn.BCEWithLogitsLoss()
        self.optim = torch.optim.Adam(self.model.parameters(), lr=self.rate, eps=self.eps)

    def epoch(self, x, y, bs=40):
        self.model.train()
        tot = 0.0
        for idx in torch.randperm(len(x)).split(bs):
            self.optim.zero_grad()
            value = self.loss(self.model(x[idx]), y[idx])
            value.backward()
            self.optim.step()
            tot += value.item() * len(idx)
        return tot / len(x)

    def accuracy(self, x, y):
        self.model.eval()
        with torch.no_grad():
            return ((self.model(x) > 0).float() == y).float().mean().item()


tr = CrescentTrainer()
x, y = crescents(1200)
xt, yt = crescents(500)
for i in range(12):
    print(i, f"loss {tr.epoch(x, y):.4f}", f"test acc {tr.accuracy(xt, yt):.3f}")
