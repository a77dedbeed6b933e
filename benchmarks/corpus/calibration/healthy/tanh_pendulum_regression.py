"""Learn one step of a damped pendulum: state (angle, speed) and torque to the next state."""
import math
import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
DT = 0.1


def simulate(n):
    th = (torch.rand(n) * 2 - 1) * math.pi
    om = (torch.rand(n) * 2 - 1) * 3
    u = torch.rand(n) * 2 - 1
    acc = -4.0 * torch.sin(th) - 0.3 * om + 1.5 * u
    nxt = torch.stack([DT * om + 0.5 * DT * DT * acc, DT * acc], 1)
    return torch.stack([th, om, u], 1), nxt


X, Y = simulate(2500)
Xv, Yv = simulate(500)
xm, xs, ys = X.mean(0), X.std(0), Y.std(0)


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.h1 = nn.Linear(3, 48)
        self.h2 = nn.Linear(48, 48)
        self.out = nn.Linear(48, 2)

    def forward(self, s):
        h = torch.tanh(self.h1((s - xm) / xs))
        h = torch.tanh(self.h2(h))
        return self.out(h) * ys


f = Dynamics()
opt = torch.optim.Adam(f.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.5)
for epoch in range(15):
    f.train()
    for idx in torch.randperm(len(X)).split(80):
        loss = (((f(X[idx]) - Y[idx]) / ys) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    if epoch % 3 == 2:
        f.eval()
        with torch.no_grad():
            err = (((f(Xv) - Yv) / ys) ** 2).mean()
        print(f"epoch {epoch + 1} relative error train {loss.item():.5f} val {err:.5f}")
