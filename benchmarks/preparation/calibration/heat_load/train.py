import sys
import time

import polars as pl
import torch
from torch import nn

INPUTS = ["outdoor_temp", "wind", "sun", "occupancy"]
TARGET = "load_kw"


def zscore(df: pl.DataFrame) -> pl.DataFrame:
    return df.with_columns(((pl.col(c) - pl.col(c).mean()) / pl.col(c).std()).alias(c) for c in INPUTS)


def to_tensors(df):
    return df.select(INPUTS).to_torch(dtype=pl.Float32), df.select(TARGET).to_torch(dtype=pl.Float32)


def train(x, y, epochs=40, lr=0.01):
    net = nn.Sequential(
        nn.Linear(len(INPUTS), 32), nn.Softplus(),
        nn.Linear(32, 16), nn.Softplus(),
        nn.Linear(16, 1),
    )
    # start from the mean load
    with torch.no_grad():
        net[-1].bias.fill_(y.mean().item())
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, 15, 0.4)
    for e in range(1, epochs + 1):
        acc = 0.0
        for b in torch.randperm(len(x)).split(60):
            loss = ((net(x[b]) - y[b]) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            acc += loss.item() * len(b)
        sched.step()
        if e % 10 == 0:
            print(f"  epoch {e:2d}  train rmse {(acc / len(x)) ** 0.5:.2f} kW", file=sys.stdout)
    return net


if __name__ == "__main__":
    torch.manual_seed(17)
    t0 = time.time()
    past = pl.read_csv("year1.csv")
    new = pl.read_csv("spring_year2.csv")
    print(f"{past.height} hours of year 1, {new.height} hours of the next spring")

    past_z = zscore(past)
    new_z = zscore(new)

    model = train(*to_tensors(past_z))
    x_new, y_new = to_tensors(new_z)
    with torch.no_grad():
        rmse = ((model(x_new) - y_new) ** 2).mean().sqrt().item()
    print(f"spring: RMSE {rmse:.2f} kW, mean load {y_new.mean().item():.1f} kW")
    print(f"done in {time.time() - t0:.1f} s")
