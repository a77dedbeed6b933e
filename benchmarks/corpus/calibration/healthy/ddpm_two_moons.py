"""Tiny denoising diffusion model on 2-D moons. The noise-prediction loss levels off by its nature."""
import math
import os

import torch
import torch.nn as nn

STEPS = 50


def moons(n):
    t = torch.rand(n) * math.pi
    up = torch.rand(n) < 0.5
    x = torch.where(up, t.cos(), 1 - t.cos()) - 0.5
    y = torch.where(up, t.sin(), 0.5 - t.sin()) - 0.25
    return torch.stack([x, y], 1) * 1.3 + 0.04 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(4) * math.pi / 2)
        self.net = nn.Sequential(
            nn.Linear(2 + 8, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2)
        )

    def forward(self, x, t):
        ang = (t.float() / STEPS)[:, None] * self.freqs
        return self.net(torch.cat([x, ang.sin(), ang.cos()], 1))


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    betas = torch.linspace(5e-4, 0.12, STEPS)
    abar = torch.cumprod(1 - betas, 0)
    model = Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=1200)
    avg = None
    for it in range(1, 1201):
        x0 = moons(128)
        t = torch.randint(0, STEPS, (128,))
        noise = torch.randn_like(x0)
        xt = abar[t, None].sqrt() * x0 + (1 - abar[t, None]).sqrt() * noise
        loss = (model(xt, t) - noise).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
        if it % 200 == 0:
            print(f"iter {it} smoothed loss {avg:.3f}")
    model.eval()
    x = torch.randn(1000, 2)
    with torch.no_grad():
        for k in reversed(range(STEPS)):
            eps = model(x, torch.full((1000,), k))
            x = (x - betas[k] / (1 - abar[k]).sqrt() * eps) / (1 - betas[k]).sqrt()
            if k:
                x = x + betas[k].sqrt() * torch.randn_like(x)
    near = torch.cdist(x, moons(2000)).min(1).values
    far = torch.cdist(torch.randn(1000, 2), moons(2000)).min(1).values
    print(f"median distance to data {near.median():.3f} (gaussian noise {far.median():.3f})")


if __name__ == "__main__":
    main()
