"""Classify small drawings (disc, square, cross, stripes) with a batch-normalised CNN."""
import argparse
import os

import torch
import torch.nn.functional as F
from torch import nn


def draw(kind, size=16):
    img = torch.zeros(size, size)
    cx, cy = torch.randint(5, size - 5, (2,)).tolist()
    r = int(torch.randint(3, 5, (1,)))
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    if kind == 0:
        img[(xx - cx) ** 2 + (yy - cy) ** 2 <= r * r] = 1.0
    elif kind == 1:
        img[max(cy - r, 0): cy + r, max(cx - r, 0): cx + r] = 1.0
    elif kind == 2:
        img[cy, max(cx - r, 0): cx + r + 1] = 1.0
        img[max(cy - r, 0): cy + r + 1, cx] = 1.0
    else:
        img[max(cy - r, 0): cy + r: 2, max(cx - r, 0): cx + r] = 1.0
    return img + 0.25 * torch.randn(size, size)


def dataset(n):
    labels = torch.randint(0, 4, (n,))
    images = torch.stack([draw(int(k)) for k in labels]).unsqueeze(1)
    return images, labels


class SmallCNN(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.fc = nn.Linear(2 * width * 4 * 4, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=7)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--batch-size", type=int, default=32)
    args = p.parse_args()
    torch.manual_seed(int(os.environ.get("SEED", "0")))

    xtr, ytr = dataset(1400)
    xte, yte = dataset(300)
    net = SmallCNN()
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    for ep in range(args.epochs):
        net.train()
        order = torch.randperm(len(xtr))
        total = 0.0
        for i in range(0, len(xtr), args.batch_size):
            idx = order[i: i + args.batch_size]
            loss = F.cross_entropy(net(xtr[idx]), ytr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"[{ep}] loss={total / len(xtr):.4f} test_acc={evaluate(net, xte, yte):.3f}")


if __name__ == "__main__":
    main()
