"""Daily use of a household under a tariff that is announced two weeks ahead.

The supplier's sheet states each tariff once, in the row of the last day on which it holds;
customers know it from the first day of the period on.
"""
import polars as pl
import torch
from torch import nn

torch.manual_seed(8)

df = (
    pl.read_csv("household.csv", infer_schema_length=None)
    .sort("day")
    .with_columns(pl.col("tariff_until_day").backward_fill().alias("tariff"))
    .with_columns((pl.col("weekday") >= 5).cast(pl.Float64).alias("weekend"))
)
assert df["tariff"].null_count() == 0

cut = 660
x = df.select("tariff", "temp_forecast", "weekend").to_torch(dtype=pl.Float32)
y = df["kwh"].to_torch().float()
mean, std = x[:cut].mean(0), x[:cut].std(0)
ymean, ystd = y[:cut].mean(), y[:cut].std()
x = (x - mean) / std

model = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 1), nn.Flatten(0))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(30):
    for i in torch.randperm(cut).split(33):
        loss = nn.functional.mse_loss(model(x[i]), (y[i] - ymean) / ystd)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: {loss.item():.4f}")

with torch.no_grad():
    pred = model(x[cut:]) * ystd + ymean
mae = (pred - y[cut:]).abs().mean().item()
print(f"last {len(y) - cut} days: MAE {mae:.2f} kWh (mean as forecast {(ymean - y[cut:]).abs().mean().item():.2f})")
