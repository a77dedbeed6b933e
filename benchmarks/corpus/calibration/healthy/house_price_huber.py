"""Tabular regression with outliers; inputs standardised, target scaled, Huber loss."""
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load(n, rng):
    area = rng.uniform(40, 220, n)
    rooms = rng.integers(1, 7, n)
    age = rng.uniform(0, 90, n)
    dist = rng.exponential(6.0, n)
    garden = rng.integers(0, 2, n)
    price = 1800 * area * np.exp(-dist / 15) + 9000 * rooms - 600 * age + 25000 * garden * (area > 100) + 40000
    price += rng.normal(0, 9000, n)
    bad = rng.random(n) < 0.03
    price[bad] *= rng.uniform(1.5, 2.5, bad.sum())
    feats = np.stack([area, rooms, age, dist, garden], 1)
    return feats.astype(np.float32), price.astype(np.float32)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.loss = nn.HuberLoss(delta=1.0)
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-3)

    def fit_epoch(self, loader):
        self.model.train()
        tot, n = 0.0, 0
        for xb, yb in loader:
            self.opt.zero_grad()
            out = self.model(xb).squeeze(1)
            loss = self.loss(out, yb)
            loss.backward()
            self.opt.step()
            tot += loss.item() * len(yb)
            n += len(yb)
        return tot / n

    @torch.no_grad()
    def mae(self, x, y):
        self.model.eval()
        return (self.model(x).squeeze(1) - y).abs().median().item()


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    x, y = load(2400, rng)
    xtr, ytr, xva, yva = x[:2000], y[:2000], x[2000:], y[2000:]
    mu, sd = xtr.mean(0), xtr.std(0)
    ym, ys = ytr.mean(), ytr.std()
    tr = TensorDataset(torch.tensor((xtr - mu) / sd), torch.tensor((ytr - ym) / ys))
    loader = DataLoader(tr, batch_size=64, shuffle=True)
    xv, yv = torch.tensor((xva - mu) / sd), torch.tensor((yva - ym) / ys)

    trainer = Trainer(nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)), 3e-3)
    for ep in range(16):
        loss = trainer.fit_epoch(loader)
        if ep % 3 == 0:
            print(f"epoch {ep} huber {loss:.4f}")
    print(f"median abs error {trainer.mae(xv, yv) * ys:,.0f} (std of prices {ys:,.0f})")


if __name__ == "__main__":
    main()
