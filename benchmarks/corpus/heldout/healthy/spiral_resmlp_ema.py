import math
import os
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

K = 3


def spiral(n_per_class):
    xs, ys = [], []
    for k in range(K):
        r = torch.linspace(0.05, 1.0, n_per_class)
        theta = r * 6.0 + k * 2 * math.pi / K + 0.25 * torch.randn(n_per_class)
        xs.append(torch.stack((r * theta.sin(), r * theta.cos()), 1))
        ys.append(torch.full((n_per_class,), k))
    return torch.cat(xs) * 2, torch.cat(ys)


class ResBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.a = nn.Linear(d, 2 * d)
        self.b = nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.b(F.gelu(self.a(self.norm(x))))


class ResMLP(nn.Module):
    def __init__(self, d=48, depth=3):
        super().__init__()
        self.stem = nn.Linear(2, d)
        self.blocks = nn.Sequential(*[ResBlock(d) for _ in range(depth)])
        self.out = nn.Linear(d, K)

    def forward(self, x):
        return self.out(self.blocks(self.stem(x)))


@torch.no_grad()
def ema_update(avg, net, decay=0.98):
    for pa, p in zip(avg.parameters(), net.parameters()):
        pa.mul_(decay).add_(p, alpha=1 - decay)


Xtr, ytr = spiral(400)
Xte, yte = spiral(200)
net = ResMLP()
avg = deepcopy(net).requires_grad_(False)

# no decay on norms and biases
decay = [p for p in net.parameters() if p.ndim > 1]
no_decay = [p for p in net.parameters() if p.ndim <= 1]
opt = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.01}, {"params": no_decay, "weight_decay": 0.0}], lr=3e-3
)

for step in range(400):
    ix = torch.randint(len(Xtr), (128,))
    loss = F.cross_entropy(net(Xtr[ix]), ytr[ix])
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema_update(avg, net)
    if step % 80 == 79:
        with torch.no_grad():
            a = (net(Xte).argmax(1) == yte).float().mean()
            e = (avg(Xte).argmax(1) == yte).float().mean()
        print(f"{step + 1:4d} loss {loss:.4f} acc {a:.3f} ema {e:.3f}")
