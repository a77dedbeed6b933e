import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class OrbitNet(nn.Module):
    def __init__(self, n_in, n_out, width=40, depth=7):
        super().__init__()
        layers = [nn.Linear(n_in, width), nn.Sigmoid()]
        for _ in range(depth - 1):
            layers.append(nn.Linear(width, width))
            layers.append(nn.Sigmoid())
        self.hidden = nn.Sequential(*layers)
        self.head = nn.Linear(width, n_out)

    def forward(self, x):
        return self.head(self.hidden(x))


def orbits(n):
    x = torch.randn(n, 4)
    energy = (x[:, :2] ** 2).sum(1) - (x[:, 2:] ** 2).sum(1)
    label = torch.bucketize(energy, torch.tensor([-1.5, 0.0, 1.5]))
    return x, label


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    loader = DataLoader(TensorDataset(*orbits(2000)), batch_size=50, shuffle=True)
    xv, yv = orbits(500)
    net = OrbitNet(4, 4)
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(12):
        net.train()
        tot = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch:2d} loss {tot / len(loader):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
