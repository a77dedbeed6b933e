import json
import sys

import numpy as np
import torch

from model import RentalNet
from prepare import build

CFG = {"seed": 7, "epochs": 35, "batch": 64, "lr": 3e-3, "test_share": 0.2}


def split(n, share, seed):
    order = np.random.RandomState(seed).permutation(n)
    k = int(n * share)
    return order[k:], order[:k]


def fit(net, X, y, cfg):
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        order = torch.randperm(len(X))
        tot = 0.0
        for idx in order.split(cfg["batch"]):
            opt.zero_grad()
            loss = torch.nn.functional.smooth_l1_loss(net(X[idx]), y[idx])
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        if epoch % 7 == 6:
            print(f"epoch {epoch + 1:3d}  loss {tot / len(X):.4f}")


def main(path="rentals.csv"):
    torch.manual_seed(CFG["seed"])
    X, y, dates = build(path)
    print(f"{len(X)} rows from {dates.min().date()} to {dates.max().date()}")
    tr, te = split(len(X), CFG["test_share"], CFG["seed"])
    mu, sd = y[tr].mean(), y[tr].std()
    net = RentalNet(X.shape[1])
    fit(net, torch.tensor(X[tr]), torch.tensor((y[tr] - mu) / sd), CFG)
    net.eval()
    with torch.no_grad():
        pred = net(torch.tensor(X[te])).numpy() * sd + mu
    mae = float(np.abs(pred - y[te]).mean())
    r2 = float(1 - ((pred - y[te]) ** 2).sum() / ((y[te] - y[te].mean()) ** 2).sum())
    print(json.dumps({"test_mae": round(mae, 2), "test_r2": round(r2, 3)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
