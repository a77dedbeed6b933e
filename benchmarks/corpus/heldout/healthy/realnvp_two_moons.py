import math
import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def moons(n, noise=0.08):
    t = math.pi * torch.rand(n)
    flip = torch.rand(n) < 0.5
    x = torch.where(flip, torch.cos(t), 1 - torch.cos(t)) - 0.5
    y = torch.where(flip, torch.sin(t), 0.5 - torch.sin(t)) - 0.25
    return torch.stack([x, y], 1) * 1.5 + noise * torch.randn(n, 2)


class Coupling(nn.Module):
    """Affine coupling; the last layer starts at zero so every block starts as identity."""

    def __init__(self, keep, hidden=48):
        super().__init__()
        self.keep = keep
        self.net = nn.Sequential(
            nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2)
        )
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a = x[:, self.keep : self.keep + 1]
        b = x[:, 1 - self.keep : 2 - self.keep]
        s, t = self.net(a).chunk(2, dim=1)
        s = 1.5 * torch.tanh(s)
        b = b * s.exp() + t
        out = torch.cat([a, b], 1) if self.keep == 0 else torch.cat([b, a], 1)
        return out, s.squeeze(1)


class Flow(nn.Module):
    def __init__(self, blocks=6):
        super().__init__()
        self.blocks = nn.ModuleList(Coupling(i % 2) for i in range(blocks))

    def log_prob(self, x):
        logdet = x.new_zeros(len(x))
        for block in self.blocks:
            x, ld = block(x)
            logdet = logdet + ld
        base = -0.5 * (x**2).sum(1) - math.log(2 * math.pi)
        return base + logdet


flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=450)
test = moons(2000)
for step in range(450):
    nll = -flow.log_prob(moons(256)).mean()
    optimizer.zero_grad()
    nll.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    optimizer.step()
    scheduler.step()
    if step % 90 == 0 or step == 449:
        with torch.no_grad():
            print(f"step {step:4d} train nll {nll.item():.3f} test nll {-flow.log_prob(test).mean().item():.3f}")
