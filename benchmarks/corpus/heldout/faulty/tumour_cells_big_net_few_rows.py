import os
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_train: int = 60
    n_val: int = 400
    n_feat: int = 60
    width: int = 256
    epochs: int = 60
    batch: int = 20
    lr: float = 1e-3


def cells(n, n_feat, w):
    x = torch.randn(n, n_feat)
    logit = x @ w
    return x, (torch.sigmoid(2 * logit) > torch.rand(n)).long()


class WideNet(nn.Module):
    def __init__(self, n_feat, width):
        super().__init__()
        self.l1 = nn.Linear(n_feat, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width, 2)

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


def main(cfg):
    w = torch.zeros(cfg.n_feat)
    w[:10] = torch.randn(10)
    x, y = cells(cfg.n_train, cfg.n_feat, w)
    xv, yv = cells(cfg.n_val, cfg.n_feat, w)
    net = WideNet(cfg.n_feat, cfg.width)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        net.train()
        for idx in torch.randperm(cfg.n_train).split(cfg.batch):
            opt.zero_grad()
            loss = F.cross_entropy(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            tr = F.cross_entropy(net(x), y).item()
            out = net(xv)
            va = F.cross_entropy(out, yv).item()
            acc = (out.argmax(1) == yv).float().mean().item()
        if epoch % 6 == 5:
            print(f"epoch {epoch + 1}: train loss {tr:.4f} val loss {va:.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    main(Config())
