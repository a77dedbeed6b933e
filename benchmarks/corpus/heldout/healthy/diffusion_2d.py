"""DDPM-style denoiser in 2-D: five gaussians on a circle."""
import argparse
import math
import os

import torch
from torch import nn


def five_gaussians(n):
    k = torch.randint(0, 5, (n,)) * (2 * math.pi / 5)
    return torch.stack([k.cos(), k.sin()], 1) * 1.4 + 0.12 * torch.randn(n, 2)


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("freqs", torch.exp(torch.linspace(0, math.log(16.0), dim // 2)))

    def forward(self, t):
        ang = t[:, None] * self.freqs
        return torch.cat([ang.sin(), ang.cos()], -1)


class EpsNet(nn.Module):
    def __init__(self, hidden=128, tdim=16):
        super().__init__()
        self.temb = TimeEmbedding(tdim)
        self.inp = nn.Linear(2 + tdim, hidden)
        self.mid = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(2)])
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, t):
        h = nn.functional.silu(self.inp(torch.cat([x, self.temb(t)], 1)))
        for layer in self.mid:
            h = h + nn.functional.silu(layer(h))
        return self.out(h)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--T", type=int, default=50)
    ap.add_argument("--steps", type=int, default=1000)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--lr", type=float, default=4e-3)
    args = ap.parse_args()
    torch.manual_seed(int(os.environ.get("SEED", "0")))

    beta = torch.linspace(1e-3, 0.2, args.T)
    alpha = 1 - beta
    abar = alpha.cumprod(0)
    net = EpsNet()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)
    avg = 0.0
    for i in range(1, args.steps + 1):
        x0 = five_gaussians(args.batch)
        t = torch.randint(0, args.T, (args.batch,))
        eps = torch.randn_like(x0)
        a = abar[t, None]
        xt = a.sqrt() * x0 + (1 - a).sqrt() * eps
        loss = ((net(xt, t / args.T) - eps) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        avg += loss.item()
        if i % 200 == 0:
            print(f"step {i}: eps-mse {avg / 200:.4f}")
            avg = 0.0

    # ancestral sampling
    net.eval()
    with torch.no_grad():
        x = torch.randn(500, 2)
        for k in reversed(range(args.T)):
            e = net(x, torch.full((500,), k / args.T))
            x = (x - beta[k] / (1 - abar[k]).sqrt() * e) / alpha[k].sqrt()
            if k:
                x = x + beta[k].sqrt() * torch.randn_like(x)
    ang = torch.arange(5) * (2 * math.pi / 5)
    centers = torch.stack([ang.cos(), ang.sin()], 1) * 1.4
    d, which = torch.cdist(x, centers).min(1)
    print(f"share of samples near a mode: {(d < 0.4).float().mean():.3f}, modes hit: {which.unique().numel()}/5")


if __name__ == "__main__":
    main()
