import os

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class OffsetNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.a = nn.Linear(5, width)
        self.b = nn.Linear(width, width)
        self.c = nn.Linear(width, 1)

    def forward(self, x):
        h = F.leaky_relu(self.a(x))
        h = F.leaky_relu(self.b(h))
        return F.relu(self.c(h))


def load(seed, n):
    g = np.random.default_rng(seed)
    x = g.normal(size=(n, 5)).astype("float32")
    y = np.tanh(x[:, 0] * x[:, 1]) * 2 + x[:, 2] - 0.5 * x[:, 3] ** 2 + 0.05 * g.normal(size=n)
    return torch.from_numpy(x), torch.from_numpy(y.astype("float32"))[:, None]


if __name__ == "__main__":
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    x, y = load(seed, 1600)
    xv, yv = load(seed + 1000, 400)
    m, s = y.mean(), y.std()
    y, yv = (y - m) / s, (yv - m) / s
    net = OffsetNet()
    optimiser = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(15):
        net.train()
        for rows in torch.randperm(len(x)).split(64):
            optimiser.zero_grad()
            loss = F.mse_loss(net(x[rows]), y[rows])
            loss.backward()
            optimiser.step()
        net.eval()
        with torch.no_grad():
            v = F.mse_loss(net(xv), yv).item()
        print(f"{epoch + 1:2d}: train {loss.item():.4f} val mse {v:.4f}")
