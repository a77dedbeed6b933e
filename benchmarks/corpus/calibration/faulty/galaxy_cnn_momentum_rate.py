import os
from dataclasses import dataclass, field
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class OptimCfg:
    lr: float = 0.6
    momentum: float = 0.9


@dataclass
class Experiment:
    epochs: int = 8
    batch: int = 32
    optim: OptimCfg = field(default_factory=OptimCfg)


def galaxies(n, s=14):
    """elliptical / spiral-like / ring"""
    y = torch.randint(0, 3, (n,))
    g = torch.linspace(-1.5, 1.5, s)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    r, th = (xx ** 2 + yy ** 2).sqrt(), torch.atan2(yy, xx)
    imgs = []
    for k in y.tolist():
        a = torch.rand(()) * 6.28
        if k == 0:
            im = torch.exp(-2 * r)
        elif k == 1:
            im = torch.exp(-r) * (1 + torch.cos(2 * th - 4 * r + a)) / 2
        else:
            im = torch.exp(-((r - 0.8) ** 2) / 0.08) * 0.6
        imgs.append(im + 0.15 * torch.randn(s, s))
    return torch.stack(imgs)[:, None] * 2 - 0.6, y


class GalaxyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3)
        self.c2 = nn.Conv2d(8, 16, 3)
        self.f1 = nn.Linear(16 * 4, 32)
        self.f2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.f2(F.relu(self.f1(x.flatten(1))))


def main(exp):
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = galaxies(900)
    xt, yt = galaxies(300)
    net = GalaxyNet()
    opt = torch.optim.SGD(net.parameters(), lr=exp.optim.lr, momentum=exp.optim.momentum)
    for ep in range(exp.epochs):
        net.train()
        tot = 0.0
        for b in torch.randperm(len(x)).split(exp.batch):
            opt.zero_grad()
            loss = F.cross_entropy(net(x[b]), y[b])
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        net.eval()
        with torch.no_grad():
            acc = (net(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {ep}: loss {tot / len(x):.4f} test acc {acc:.3f}")


if __name__ == "__main__":
    main(Experiment())
