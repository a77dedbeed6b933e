from datetime import date

import polars as pl
import torch
from torch import nn

LAGS = (1, 2, 7)
TEST_FROM = date(2023, 3, 11)


def features(path: str) -> pl.DataFrame:
    readings = pl.read_csv(path, try_parse_dates=True).sort("day", "meter")
    return (
        readings
        .with_columns(
            pl.col("day").dt.weekday().alias("weekday"),
            *[pl.col("kwh").shift(k).alias(f"kwh_lag{k}") for k in LAGS],
        )
        .drop_nulls()
    )


def matrix(frame: pl.DataFrame, cols: list[str]) -> torch.Tensor:
    return torch.tensor(frame.select(cols).to_numpy(), dtype=torch.float32)


def fit(x: torch.Tensor, y: torch.Tensor, epochs: int = 30) -> nn.Module:
    net = nn.Sequential(nn.Linear(x.shape[1], 24), nn.ReLU(), nn.Linear(24, 1))
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(epochs):
        losses = []
        for idx in torch.randperm(len(x)).split(128):
            loss = nn.functional.huber_loss(net(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1:3d}  loss {sum(losses) / len(losses):.4f}")
    return net


def main() -> None:
    torch.manual_seed(8)
    table = features("readings.csv")
    train = table.filter(pl.col("day") < TEST_FROM)
    test = table.filter(pl.col("day") >= TEST_FROM)
    cols = ["temp_forecast", "weekday", *[f"kwh_lag{k}" for k in LAGS]]
    x, y = matrix(train, cols), matrix(train, ["kwh"]).squeeze(1)
    mu, sd = x.mean(0), x.std(0)
    ym, ys = y.mean(), y.std()
    print(f"{len(train)} training rows, {len(test)} test rows, {table['meter'].n_unique()} meters")
    net = fit((x - mu) / sd, (y - ym) / ys)
    with torch.no_grad():
        guess = net((matrix(test, cols) - mu) / sd).squeeze(1) * ys + ym
    err = (guess - matrix(test, ["kwh"]).squeeze(1)).abs().mean()
    print(f"day-ahead MAE {err.item():.3f} kWh")


if __name__ == "__main__":
    main()
