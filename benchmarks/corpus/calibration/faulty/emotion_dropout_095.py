import os
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    dropout: float = 0.95
    hidden: int = 64
    lr: float = 2e-3
    epochs: int = 12


class EmotionNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.fc1 = nn.Linear(22, cfg.hidden)
        self.fc2 = nn.Linear(cfg.hidden, cfg.hidden)
        self.out = nn.Linear(cfg.hidden, 7)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x):
        x = self.drop(torch.relu(self.fc1(x)))
        x = self.drop(torch.relu(self.fc2(x)))
        return self.out(x)


def faces(n, proto):
    y = torch.randint(0, 7, (n,))
    return proto[y] * (torch.randint(0, 2, (n, 1)) * 2 - 1) + 0.6 * torch.randn(n, 22), y


def main():
    cfg = Config()
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    proto = torch.randn(7, 22)
    x, y = faces(1500, proto)
    xv, yv = faces(400, proto)
    net = EmotionNet(cfg)
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        net.train()
        tot = 0.0
        for idx in torch.randperm(1500).split(50):
            opt.zero_grad()
            loss = crit(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            out = net(xv)
        print(f"epoch {epoch} train {tot / 30:.3f} val {crit(out, yv).item():.3f} acc {(out.argmax(1) == yv).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
