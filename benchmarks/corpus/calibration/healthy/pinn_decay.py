"""Solve u'' + 4u = 0, u(0)=1, u'(0)=0 on [0, 2] with a small network and automatic differentiation."""
import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

u = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
t = torch.linspace(0, 2, 64).unsqueeze(1).requires_grad_(True)
t0 = torch.zeros(1, 1, requires_grad=True)
opt = torch.optim.Adam(u.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=900, eta_min=1e-4)


def d(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


for it in range(900):
    y = u(t - 1.0)
    residual = d(d(y, t), t) + 4 * y
    y0 = u(t0 - 1.0)
    loss = residual.pow(2).mean() + 10 * ((y0 - 1) ** 2).mean() + 10 * (d(y0, t0) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 150 == 149:
        with torch.no_grad():
            err = (u(t - 1.0) - torch.cos(2 * t)).abs().max().item()
        print(f"{it + 1:4d} loss {loss.item():.5f} max error {err:.4f}")
