import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def flips(x):
    """The eight views of a square picture."""
    for k in range(4):
        r = torch.rot90(x, k, dims=(2, 3))
        yield r
        yield r.flip(3)


def read(part):
    d = np.load(f"cells_{part}.npz")
    return torch.from_numpy(d["x"]).float()[:, None] / 255 - 0.45, torch.from_numpy(d["y"])


class CellNet(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(1, 12, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 24, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.o = nn.Linear(24 * 25, n)

    def forward(self, x):
        return self.o(self.f(x).flatten(1))


def predict(net, x):
    net.eval()
    with torch.no_grad():
        return torch.stack([net(v).softmax(1) for v in flips(x)]).mean(0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=14)
    a = ap.parse_args()
    random.seed(9)
    torch.manual_seed(9)
    x, y = read("train")
    xt, yt = read("test")
    net = CellNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for ep in range(a.epochs):
        net.train()
        tot = 0.0
        for b in torch.randperm(len(x)).split(32):
            xb = random.choice(list(flips(x[b])))
            loss = F.cross_entropy(net(xb), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        print(f"epoch {ep + 1} loss {tot / len(x):.4f}")
    p = predict(net, xt)
    print(f"test accuracy, mean of eight views: {(p.argmax(1) == yt).float().mean():.3f}")


if __name__ == "__main__":
    main()
