import argparse
import math

import numpy as np
import polars as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

FEATURES = ["promo", "holiday", "lag_7", "lag_14", "mean_28", "dow_sin", "dow_cos"]


def build_table(path: str) -> pl.DataFrame:
    df = pl.read_csv(path, try_parse_dates=True)
    df = df.sort("date", "store")
    df = df.with_columns(
        pl.col("units").log1p().alias("log_units"),
        (pl.col("date").dt.weekday() * (2 * math.pi / 7)).sin().alias("dow_sin"),
        (pl.col("date").dt.weekday() * (2 * math.pi / 7)).cos().alias("dow_cos"),
    )
    df = df.with_columns(
        pl.col("log_units").shift(7).alias("lag_7"),
        pl.col("log_units").shift(14).alias("lag_14"),
        pl.col("log_units").shift(7).rolling_mean(28, min_samples=7).alias("mean_28"),
    )
    return df.drop_nulls()


def as_tensors(df, mean, std):
    x = (df.select(FEATURES).to_numpy() - mean) / std
    y = df["log_units"].to_numpy()
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class SalesNet(nn.Module):
    def __init__(self, d, hidden=64):
        super().__init__()
        self.inp = nn.Linear(d, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = F.silu(self.inp(x))
        h = h + F.silu(self.mid(h))
        return self.out(h).squeeze(-1) + 4.0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--csv", default="daily_sales.csv")
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--test-days", type=int, default=28)
    args = ap.parse_args()
    torch.manual_seed(7)

    table = build_table(args.csv)
    last = table["date"].max()
    is_test = (last - table["date"]).dt.total_days() < args.test_days
    train, test = table.filter(~is_test), table.filter(is_test)
    mean = train.select(FEATURES).to_numpy().mean(0)
    std = train.select(FEATURES).to_numpy().std(0) + 1e-6
    xtr, ytr = as_tensors(train, mean, std)
    xte, yte = as_tensors(test, mean, std)
    print("rows", len(xtr), "/", len(xte), "stores", table["store"].n_unique())

    model = SalesNet(len(FEATURES))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=128, shuffle=True)
    for ep in range(args.epochs):
        run = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.smooth_l1_loss(model(xb), yb)
            loss.backward()
            opt.step()
            run += loss.item() * len(xb)
        print(f"[{ep + 1:02d}] train loss {run / len(xtr):.4f}")

    model.eval()
    with torch.no_grad():
        units = torch.expm1(model(xte)).numpy()
    true = test["units"].to_numpy()
    wape = np.abs(units - true).sum() / true.sum()
    print(f"test WAPE {wape:.3f}")


if __name__ == "__main__":
    main()
