import os
import math

import torch
from torch import nn


class GaussianHead(nn.Module):
    def __init__(self, d_in, width=40):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.mu = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mu(h).squeeze(1), self.log_var(h).squeeze(1).clamp(-6, 3)


def gaussian_nll(mu, log_var, y):
    log_lik = 0.5 * (log_var - (y - mu) ** 2 / log_var.exp() + math.log(2 * math.pi))
    return -log_lik.mean()


def flows(n):
    x = torch.rand(n, 3) * 4 - 2
    mean = torch.sin(2 * x[:, 0]) + x[:, 1] * 0.5
    return x, mean + (0.1 + 0.2 * torch.sigmoid(x[:, 2])) * torch.randn(n)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = flows(1500)
    xv, yv = flows(400)
    net = GaussianHead(3)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(20):
        net.train()
        for sel in torch.randperm(len(x)).split(75):
            mu, lv = net(x[sel])
            loss = gaussian_nll(mu, lv, y[sel])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 4 == 3:
            net.eval()
            with torch.no_grad():
                mu, lv = net(xv)
                rmse = (mu - yv).pow(2).mean().sqrt()
            print(f"epoch {epoch + 1}: loss {loss.item():.3f} val rmse {rmse.item():.4f}")


if __name__ == "__main__":
    main()
