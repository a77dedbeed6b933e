import os
import math
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
HP = {"lr": 0.02, "momentum": 0.999, "epochs": 15, "bs": 40}


def pendulum(n):
    th = (torch.rand(n) * 2 - 1) * math.pi
    om = torch.randn(n)
    dt = 0.3
    acc = -torch.sin(th) * 2 - 0.1 * om
    return torch.stack([th, om], 1), torch.stack([th + dt * om + 0.5 * dt ** 2 * acc, om + dt * acc], 1)


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 50), nn.Tanh(), nn.Linear(50, 2))

    def forward(self, s):
        return self.f(s)


s, s_next = pendulum(1600)
sv, sv_next = pendulum(400)
net = Dynamics()
opt = torch.optim.SGD(net.parameters(), lr=HP["lr"], momentum=HP["momentum"])
for ep in range(HP["epochs"]):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(s)).split(HP["bs"]):
        loss = nn.functional.mse_loss(net(s[b]), s_next[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(net(sv), sv_next).item()
    print(f"ep {ep:2d} train {tot / 40:.4f} val {v:.4f}")
