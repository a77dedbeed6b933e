import argparse
import random

import torch
from torch import nn
from torch.utils.data import DataLoader

from dataset import CatFaces


def parse():
    p = argparse.ArgumentParser(description="five points on the faces of cats")
    p.add_argument("--data", default="cats.json")
    p.add_argument("--epochs", type=int, default=36)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=10)
    return p.parse_args()


class PointNet(nn.Sequential):
    def __init__(self, n_points):
        super().__init__(
            nn.Conv2d(1, 12, 5, stride=2, padding=2), nn.BatchNorm2d(12), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 49, 96), nn.ReLU(), nn.Linear(96, 2 * n_points))


def main():
    a = parse()
    random.seed(a.seed)
    torch.manual_seed(a.seed)
    tr = CatFaces(a.data, 0, 320, train=True)
    te = CatFaces(a.data, 320, None, train=False)
    loader = DataLoader(tr, batch_size=32, shuffle=True)
    net = PointNet(len(tr.names))
    opt = torch.optim.Adam(net.parameters(), lr=a.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, a.epochs)
    for ep in range(a.epochs):
        net.train()
        s = 0
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.smooth_l1_loss(net(x), y, beta=0.02)
            loss.backward()
            opt.step()
            s += loss.item() * len(x)
        sched.step()
        if (ep + 1) % 9 == 0:
            print(f"epoch {ep + 1}: loss {s / len(tr):.5f}")
    net.eval()
    with torch.no_grad():
        e = torch.cat([(net(x) - y).reshape(len(x), -1, 2).norm(dim=-1) for x, y in DataLoader(te, batch_size=50)])
    e = e * 56
    print("  ".join(f"{n} {v:.2f}" for n, v in zip(tr.names, e.mean(0).tolist())))
    print(f"test mean error {e.mean():.2f} px")


if __name__ == "__main__":
    main()
