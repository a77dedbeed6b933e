"""Sales of a store seven days from now, from what is known this evening."""
import datetime as dt

import polars as pl
import torch
from torch import nn

AHEAD = 7
LAST_TRAIN_DAY = dt.date(2023, 6, 30)
torch.manual_seed(55)

sales = pl.read_csv("sales.csv", try_parse_dates=True).sort("store", "day")
table = sales.with_columns(
    target=pl.col("sales").shift(-AHEAD).over("store"),
    mean7=pl.col("sales").rolling_mean(7).over("store"),
    mean28=pl.col("sales").rolling_mean(28).over("store"),
    today=pl.col("sales"),
).drop_nulls()

cols = ["today", "mean7", "mean28", "promo_next_week"]
train = table.filter(pl.col("day") <= LAST_TRAIN_DAY - dt.timedelta(days=AHEAD))
test = table.filter(pl.col("day") > LAST_TRAIN_DAY)
print("train", train["day"].min(), "to", train["day"].max(), "| test", test["day"].min(), "to", test["day"].max())


def to_tensors(frame):
    x = torch.tensor(frame.select(cols).to_numpy(), dtype=torch.float32)
    y = torch.tensor(frame["target"].to_numpy().copy(), dtype=torch.float32)
    return x, y


x, y = to_tensors(train)
xm, xs, ym, ys = x.mean(0), x.std(0), y.mean(), y.std()
net = nn.Sequential(nn.Linear(len(cols), 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(20):
    tot = 0.0
    for b in torch.randperm(len(x)).split(128):
        loss = ((net((x[b] - xm) / xs).squeeze(1) - (y[b] - ym) / ys) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1} loss {tot / len(x):.4f}")

with torch.no_grad():
    x, y = to_tensors(test)
    guess = net((x - xm) / xs).squeeze(1) * ys + ym
print(f"same as today: MAE {(x[:, 0] - y).abs().mean().item():.2f}")
print(f"net: MAE {(guess - y).abs().mean().item():.2f}")
