import json
import logging

import numpy as np
import torch
from torch import nn

from series import build

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("fx")


def split(X, y, frac):
    k = int(len(X) * (1 - frac))
    return (X[:k], y[:k]), (X[k:], y[k:])


def main():
    cfg = json.load(open("config.json"))
    torch.manual_seed(cfg["seed"])
    X, y = build(cfg)
    (xa, ya), (xb, yb) = split(torch.from_numpy(X), torch.from_numpy(y), cfg["test_fraction"])
    log.info("bars: %d train, %d test, up share %.3f", len(xa), len(xb), yb.mean())

    net = nn.Sequential(nn.Linear(cfg["window"], cfg["hidden"]), nn.ReLU(), nn.Dropout(0.1), nn.Linear(cfg["hidden"], 1))
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"], weight_decay=1e-4)
    lossf = nn.BCEWithLogitsLoss()
    for ep in range(cfg["epochs"]):
        net.train()
        losses = []
        for idx in torch.randperm(len(xa)).split(cfg["batch_size"]):
            loss = lossf(net(xa[idx])[:, 0], ya[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        log.info("epoch %d  bce %.4f", ep + 1, np.mean(losses))

    net.eval()
    with torch.no_grad():
        hit = ((net(xb)[:, 0] > 0) == (yb > 0.5)).float().mean().item()
    print(f"direction hit rate {hit:.3f}")


if __name__ == "__main__":
    main()
