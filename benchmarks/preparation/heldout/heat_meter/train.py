"""
Forecast of the heat meter of a housing block.

The meter reports every six hours, the weather every hour. For each report the
net gets the 24 hours before it.
"""
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(2)
HISTORY = 24
LEAD = 1

heat = pd.read_csv("heat.csv", parse_dates=["time"], index_col="time")
weather = pd.read_csv("weather.csv", parse_dates=["time"], index_col="time")

hourly = heat.resample("1h").mean().interpolate()
hourly = hourly.join(weather, how="inner")
hourly["sin"] = np.sin(2 * np.pi * hourly.index.hour / 24)
hourly["cos"] = np.cos(2 * np.pi * hourly.index.hour / 24)

reports = heat.index[heat.index >= hourly.index[HISTORY + LEAD]]
where = hourly.index.get_indexer(reports[reports <= hourly.index[-1]])
values = hourly.to_numpy(dtype=np.float32)
X = np.stack([values[i - LEAD - HISTORY + 1:i - LEAD + 1] for i in where])
y = values[where, 0]

cut = int(0.75 * len(X))
mu, sd = X[:cut].reshape(-1, X.shape[2]).mean(0), X[:cut].reshape(-1, X.shape[2]).std(0)
X = torch.from_numpy((X - mu) / sd)
Y = torch.from_numpy((y - mu[0]) / sd[0])
print("samples", tuple(X.shape), "train", cut)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(HISTORY * 4, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-3)
for epoch in range(40):
    model.train()
    tot = 0.0
    for b in torch.randperm(cut).split(32):
        loss = nn.functional.mse_loss(model(X[b]), Y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} train mse {tot / cut:.4f}")

model.eval()
with torch.no_grad():
    err = (model(X[cut:]) - Y[cut:]) * sd[0]
print(f"test MAE {err.abs().mean().item():.3f} kW")
