import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    hidden: int = 48
    lr: float = 0.01
    batch: int = 50
    epochs: int = 25


class LoadNet(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.inp = nn.Linear(n_in, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        x = torch.tanh(self.mid(x))
        return self.out(x).squeeze(-1)


def make_data(rng, n):
    hour = rng.uniform(0, 24, n)
    temp = rng.normal(12, 8, n)
    weekend = rng.integers(0, 2, n)
    load = 3 * np.sin((hour - 7) / 24 * 2 * np.pi) + 0.01 * (temp - 18) ** 2 - 1.5 * weekend * (hour > 8)
    load = load + 0.2 * rng.normal(size=n)
    feats = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), (temp - 12) / 8, weekend - 0.5], 1)
    return feats.astype("float32"), load.astype("float32")


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        rng = np.random.default_rng(SEED)
        x, y = make_data(rng, 1500)
        xv, yv = make_data(rng, 400)
        self.mu, self.sd = float(y.mean()), float(y.std())
        ds = TensorDataset(torch.from_numpy(x), (torch.from_numpy(y) - self.mu) / self.sd)
        self.train_loader = DataLoader(ds, batch_size=cfg.batch, shuffle=True)
        self.xv = torch.from_numpy(xv)
        self.yv = (torch.from_numpy(yv) - self.mu) / self.sd
        self.net = LoadNet(x.shape[1], cfg.hidden)
        self.loss_fn = nn.MSELoss()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)

    def validate(self):
        self.net.eval()
        with torch.no_grad():
            return self.loss_fn(self.net(self.xv), self.yv).item()

    def fit(self):
        self.opt.zero_grad()
        for epoch in range(self.cfg.epochs):
            self.net.train()
            total = 0.0
            for xb, yb in self.train_loader:
                loss = self.loss_fn(self.net(xb), yb)
                loss.backward()
                self.opt.step()
                total += loss.item()
            if epoch % 4 == 0:
                print(f"[{epoch}] train {total / len(self.train_loader):.4f} val {self.validate():.4f}")
        print(f"final val mse {self.validate():.4f}")


if __name__ == "__main__":
    torch.manual_seed(SEED)
    Trainer(Config()).fit()
