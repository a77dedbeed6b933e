import numpy as np
import pandas as pd
import torch

torch.manual_seed(0)

# The logger writes two lines of its own before the readings.
names = ["time", "t_out", "radiation", "window", "t_in"]
log = pd.read_csv("LOGGER_07.TXT", sep=";", header=None, skiprows=2, names=names,
                  decimal=",", thousands=".", encoding="latin-1", dtype={"time": str})
log["time"] = pd.to_datetime(log["time"], format="%d.%m.%y %H:%M")
print(log.dtypes.to_string())
print(log.describe().round(2).to_string())

hour = log["time"].dt.hour
X = np.column_stack([
    log["t_out"] / 10, log["radiation"] / 500, log["window"] / 50,
    np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24),
    np.sin(2 * np.pi * log["time"].dt.day_of_year / 365), np.cos(2 * np.pi * log["time"].dt.day_of_year / 365),
]).astype("float32")
y = log["t_in"].to_numpy("float32")

rng = np.random.default_rng(5)
test = rng.random(len(log)) < 0.25
mu, sd = y[~test].mean(), y[~test].std()
Xtr, ytr = torch.tensor(X[~test]), torch.tensor((y[~test] - mu) / sd)
net = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 40), torch.nn.SiLU(), torch.nn.Linear(40, 40), torch.nn.SiLU(),
                          torch.nn.Linear(40, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(30):
    acc = 0.0
    for b in torch.randperm(len(Xtr)).split(64):
        loss = ((net(Xtr[b]).squeeze(1) - ytr[b]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc += loss.item() * len(b)
    if epoch % 6 == 5:
        print(f"{epoch + 1:3d} {acc / len(Xtr):.4f}")
with torch.no_grad():
    pred = net(torch.tensor(X[test])).squeeze(1).numpy() * sd + mu
print(f"test RMSE {np.sqrt(((pred - y[test]) ** 2).mean()):.2f} degrees")
print(f"test R2 {1 - ((pred - y[test]) ** 2).sum() / ((y[test] - y[test].mean()) ** 2).sum():.3f}")
