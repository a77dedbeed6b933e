import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
rng = np.random.default_rng(seed)


def station_log(n=2000):
    hour = rng.uniform(0, 24, n)
    pressure = rng.normal(1013, 8, n)
    humid = rng.uniform(20, 100, n)
    wind = rng.gamma(2.0, 2.0, n)
    temp = 12 + 6 * np.sin((hour - 8) / 24 * 2 * np.pi) - 0.05 * humid + 0.2 * (pressure - 1013) - 0.4 * wind
    humid[rng.random(n) < 0.004] = np.nan   # sensor drop-outs
    return np.stack([hour, pressure, humid, wind], 1), temp + rng.normal(0, 0.3, n)


raw, temp = station_log()
mean, std = np.nanmean(raw, axis=0), np.nanstd(raw, axis=0)
x = torch.tensor((raw - mean) / std, dtype=torch.float32)
y = torch.tensor((temp - temp.mean()) / temp.std(), dtype=torch.float32)[:, None]
train = TensorDataset(x[:1600], y[:1600])
loader = DataLoader(train, batch_size=64, shuffle=True)

net = nn.Sequential(nn.Linear(4, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
mse = nn.MSELoss()
for epoch in range(15):
    s = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = mse(net(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item()
    if epoch % 3 == 2:
        print("epoch", epoch + 1, "mse", round(s / len(loader), 4))
net.eval()
with torch.no_grad():
    xv, yv = x[1600:], y[1600:]
    print("val mse %.4f" % mse(net(xv), yv).item())
