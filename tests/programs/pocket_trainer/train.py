import sys

import torch
from torch import nn

from . import NAME
from .data import batches


def main():
    torch.manual_seed(72)
    print(NAME, sys.argv[1:], sys.path[0])
    model = nn.Sequential(nn.Linear(3, 8), nn.Hardswish(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for x, y in batches(12):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        print(repr(loss.item()))
    print(repr(sum(p.sum().item() for p in model.parameters())), repr(torch.rand(1).item()))


if __name__ == "__main__":
    print("train as", __name__, __package__, __spec__.name, __file__.endswith("train.py"))
    main()
