import argparse
import os

import torch
from torch import nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--layers", type=int, default=3)
    p.add_argument("--width", type=int, default=32)
    p.add_argument("--learning-rate", type=float, default=1e-5)
    p.add_argument("--iters", type=int, default=800)
    return p.parse_args()


class MLP(nn.Module):
    def __init__(self, d, width, depth):
        super().__init__()
        self.first = nn.Linear(d, width)
        self.rest = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = layer(x)
        return self.out(x)


def main():
    args = parse()
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    x = torch.rand(2000, 2) * 6 - 3
    y = torch.sin(x[:, 0]) * torch.cos(x[:, 1])
    net = MLP(2, args.width, args.layers)
    opt = torch.optim.Adam(net.parameters(), lr=args.learning_rate)
    for it in range(args.iters):
        i = torch.randint(0, 1600, (64,))
        loss = ((net(x[i]) - y[i]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 200 == 0:
            print(f"iter {it} loss {loss.item():.4f}")
    with torch.no_grad():
        print(f"test mse {((net(x[1600:]).squeeze(1) - y[1600:]) ** 2).mean().item():.4f}")


main()
