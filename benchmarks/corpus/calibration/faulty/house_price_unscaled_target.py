import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Args:
    epochs: int = 15
    batch: int = 50
    lr: float = 1e-3


class PriceNet(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.fc1 = nn.Linear(n_features, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def houses(n, rng):
    area = rng.normal(120, 35, n)
    rooms = rng.integers(1, 7, n)
    dist = rng.exponential(8, n)
    year = rng.integers(1920, 2020, n)
    price = 2400 * area * np.exp(-dist / 25) + 9000 * rooms + 600 * (year - 1920) + rng.normal(0, 8000, n)
    x = np.stack([(area - 120) / 35, (rooms - 3.5) / 1.7, dist / 8 - 1, (year - 1970) / 29], axis=1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(price, dtype=torch.float32).unsqueeze(1)


def main():
    args = Args()
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    x, y = houses(1500, rng)
    xv, yv = houses(400, rng)
    net = PriceNet(x.shape[1])
    loss_fn = nn.MSELoss()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        net.train()
        for idx in torch.randperm(len(x)).split(args.batch):
            opt.zero_grad()
            loss = loss_fn(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            pred = net(xv)
            r2 = 1 - ((pred - yv) ** 2).sum() / ((yv - yv.mean()) ** 2).sum()
        print(f"epoch {epoch + 1}: train mse {loss.item():.4g} val R2 {r2.item():.3f}")


if __name__ == "__main__":
    main()
