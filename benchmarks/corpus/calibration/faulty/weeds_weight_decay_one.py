import argparse
import os

import torch
import torch.nn as nn
import torch.nn.functional as F


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--weight-decay", type=float, default=1.0)
    ap.add_argument("--epochs", type=int, default=10)
    args = ap.parse_args()
    torch.manual_seed(int(os.environ.get("SEED", "0")))

    def field(n):
        y = torch.randint(0, 3, (n,))
        img = 0.5 * torch.randn(n, 3, 8, 8)
        img[:, 1] += (y == 1).float().view(-1, 1, 1) * (torch.rand(n, 8, 8) < 0.4)
        img[:, 2] += (y == 2).float().view(-1, 1, 1) * (torch.rand(n, 8, 8) < 0.4)
        return img, y

    x, y = field(900)
    xv, yv = field(300)
    net = nn.Sequential(nn.Conv2d(3, 12, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(12 * 9, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=args.weight_decay)
    for epoch in range(args.epochs):
        net.train()
        for idx in torch.randperm(900).split(30):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
