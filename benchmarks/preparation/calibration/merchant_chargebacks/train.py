import json
import sys

import polars as pl
import torch
from sklearn.metrics import roc_auc_score

from features import NUMERIC, RATE, build_table, split
from model import ChargebackNet, fit


def tensors(df):
    x = df.select(NUMERIC + [RATE]).to_torch(dtype=pl.Float32)
    return x, df["chargeback"].to_torch().float()


def main(config_path="config.json"):
    with open(config_path) as f:
        cfg = json.load(f)
    torch.manual_seed(cfg["seed"])
    table = build_table(cfg)
    train, test = split(table, 0.7, cfg["seed"])
    print(f"{train.height} payments to learn from, {test.height} to test, {table['merchant'].n_unique()} merchants")
    x, y = tensors(train)
    net = fit(ChargebackNet(x.shape[1]), x, y, cfg["epochs"], cfg["lr"])
    xt, yt = tensors(test)
    with torch.no_grad():
        p = torch.sigmoid(net(xt))
    print(f"test AUC {roc_auc_score(yt.numpy(), p.numpy()):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
