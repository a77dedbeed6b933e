import argparse
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    ap = argparse.ArgumentParser(description="customer segment classifier")
    ap.add_argument("--lr", type=float, default=0.8)
    ap.add_argument("--momentum", type=float, default=0.9)
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--width", type=int, default=64)
    return ap.parse_args()


def baskets(n, w1, w2):
    x = torch.randn(n, 12)
    y = (torch.tanh(x @ w1) @ w2 + 0.1 * torch.randn(n, 6)).argmax(1)
    return x, y


class Segmenter(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(12, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 6)
        )

    def forward(self, x):
        return self.net(x)


def main():
    args = parse()
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    w1, w2 = torch.randn(12, 5) * 0.7, torch.randn(5, 6)
    dl = DataLoader(TensorDataset(*baskets(3000, w1, w2)), batch_size=64, shuffle=True)
    xv, yv = baskets(600, w1, w2)
    net = Segmenter(args.width)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=args.momentum)
    ce = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        net.train()
        tot = 0.0
        for xb, yb in dl:
            opt.zero_grad(set_to_none=True)
            loss = ce(net(xb), yb)
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"[{epoch + 1:02d}] loss {tot / len(dl):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
