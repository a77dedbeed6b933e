import os

import torch
import torch.nn as nn
from data import make_split
from model import ShapeNet
from torch.utils.data import DataLoader, TensorDataset


def validate(net, loader, loss_fn):
    loss_sum, hits, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = net(x)
            loss_sum += loss_fn(out, y).item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss_sum / n, hits / n


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train = DataLoader(TensorDataset(*make_split(120)), batch_size=32, shuffle=True)
    val = DataLoader(TensorDataset(*make_split(40)), batch_size=20)
    net = ShapeNet()
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(8):
        net.train()
        for x, y in train:
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
        vl, va = validate(net, val, loss_fn)
        print(f"epoch {epoch} val loss {vl:.4f} val acc {va:.3f}")


if __name__ == "__main__":
    main()
