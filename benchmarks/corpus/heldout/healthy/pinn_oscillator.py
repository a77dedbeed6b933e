"""Physics-informed network: damped oscillator  u'' + 2 d u' + w^2 u = 0, u(0)=1, u'(0)=0."""
import math
import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
D, W = 0.3, 2.0
T_END = 3.0


def exact(t):
    w = math.sqrt(W**2 - D**2)
    return torch.exp(-D * t) * (torch.cos(w * t) + D / w * torch.sin(w * t))


class PINN(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, t):
        return self.net(t - T_END / 2)


def derivative(u, t):
    return torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]


model = PINN()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.998)
t0 = torch.zeros(1, 1, requires_grad=True)
grid = torch.linspace(0, T_END, 100).unsqueeze(1)

for it in range(900):
    t = (torch.rand(64, 1) * T_END).requires_grad_()
    u = model(t)
    du = derivative(u, t)
    ddu = derivative(du, t)
    residual = (ddu + 2 * D * du + W**2 * u).pow(2).mean()
    u0 = model(t0)
    initial = (u0 - 1).pow(2).mean() + derivative(u0, t0).pow(2).mean()
    loss = residual + 20 * initial
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 150 == 149:
        with torch.no_grad():
            err = (model(grid) - exact(grid)).abs().max().item()
        print(f"it {it + 1}  residual {residual.item():.5f}  initial {initial.item():.6f}  max error {err:.4f}")
