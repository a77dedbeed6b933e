import os
import torch
from torch import nn


class Config:
    seed = int(os.environ.get("SEED", "0"))
    epochs = 10
    batch_size = 32
    lr = 0.01


class CoffeeNet(nn.Module):
    """Roast level from 16-band spectrum."""

    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(16, 40)
        self.bn = nn.BatchNorm1d(40)
        self.out = nn.Linear(40, 4)

    def forward(self, x):
        return self.out(torch.relu(self.bn(self.inp(x))))


def roast(n):
    k = torch.randint(0, 4, (n,))
    band = torch.arange(16).float()
    c = 3 + 3 * k.float() + 0.7 * torch.randn(n)
    return torch.exp(-((band - c[:, None]) ** 2) / 8) + 0.15 * torch.randn(n, 16), k


def main(cfg):
    torch.manual_seed(cfg.seed)
    x, y = roast(1280)
    xt, yt = roast(400)
    net = CoffeeNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9)
    for epoch in range(cfg.epochs):
        net.train()
        total = 0.0
        for b in torch.randperm(len(x)).split(cfg.batch_size):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x[b]), y[b])
            loss.backward()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch} loss {total / 40:.4f} test acc {acc:.3f}")


if __name__ == "__main__":
    main(Config())
