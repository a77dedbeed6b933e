import argparse
import json

import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from features import make_features


def parse():
    p = argparse.ArgumentParser(description="hour-ahead load forecast")
    p.add_argument("-c", "--config", default="config.json")
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def main():
    args = parse()
    cfg = json.load(open(args.config))
    torch.manual_seed(args.seed)

    df = pd.read_parquet(cfg["file"]).sort_values("ts").reset_index(drop=True)
    X = make_features(df, cfg)
    ok = X.notna().all(axis=1)
    X, y, ts = X[ok], df.loc[ok, cfg["target"]], df.loc[ok, "ts"]

    border = ts.max() - pd.Timedelta(days=cfg["test_days"])
    tr, te = ts <= border, ts > border
    mu, sd = X[tr].mean(), X[tr].std()
    ym, ys = y[tr].mean(), y[tr].std()
    to = lambda a: torch.tensor(a.values, dtype=torch.float32)
    train = TensorDataset(to((X[tr] - mu) / sd), to((y[tr] - ym) / ys))
    x_test, y_test = to((X[te] - mu) / sd), to(y[te])
    print(f"{tr.sum()} train hours, {te.sum()} test hours, features: {', '.join(X.columns)}")

    net = nn.Sequential(nn.Linear(X.shape[1], cfg["hidden"]), nn.GELU(), nn.Linear(cfg["hidden"], 1))
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        s = 0.0
        for xb, yb in DataLoader(train, batch_size=128, shuffle=True):
            loss = nn.functional.mse_loss(net(xb).squeeze(-1), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            s += loss.item() * len(yb)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: mse {s / len(train):.4f}")

    with torch.no_grad():
        pred = net(x_test).squeeze(-1) * ys + ym
    naive = (to(X.loc[te, "lag_24"]) - y_test).abs().mean()
    print(f"same hour yesterday: MAE {naive:.3f} MW")
    print(f"network: test MAE {(pred - y_test).abs().mean():.3f} MW")


if __name__ == "__main__":
    main()
