"""Next-hour load of one feeder from its own history and the weather."""
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(0)
np.random.seed(0)

raw = pd.read_csv("feeder_7.csv", parse_dates=["timestamp"]).set_index("timestamp").sort_index()
df = raw.copy()

# calendar
df["hr_sin"] = np.sin(2 * np.pi * df.index.hour / 24)
df["hr_cos"] = np.cos(2 * np.pi * df.index.hour / 24)
df["weekend"] = (df.index.day_of_week >= 5).astype(float)

# history of the feeder
df["lag_1"] = df["load_mw"].shift(1)
df["lag_2"] = df["load_mw"].shift(2)
df["same_hour_yesterday"] = df["load_mw"].shift(23)
df["level"] = df["load_mw"].rolling(5, center=True).mean()
df["spread"] = df["load_mw"].rolling(24).std()
df["temp_day"] = df["temp_c"].rolling(24).mean()

df["y"] = df["load_mw"].shift(-1)
df = df.dropna()

features = [c for c in df.columns if c != "y"]
cut = df.index[int(len(df) * 0.8)]
tr, te = df[df.index < cut], df[df.index >= cut]
print(f"{len(features)} features, {len(tr)} hours to train on, {len(te)} to test on (from {cut:%d %b %Y})")

mu, sd = tr[features].mean(), tr[features].std()
ymu, ysd = tr["y"].mean(), tr["y"].std()


def tensors(part):
    x = ((part[features] - mu) / sd).to_numpy(np.float32)
    y = ((part["y"] - ymu) / ysd).to_numpy(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


xtr, ytr = tensors(tr)
xte, yte = tensors(te)

net = nn.Sequential(nn.Linear(len(features), 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-5)

for epoch in range(1, 26):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(xtr)).split(128):
        loss = nn.functional.mse_loss(net(xtr[idx]).squeeze(1), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  mse {total / len(xtr):.4f}")

net.eval()
with torch.no_grad():
    pred = net(xte).squeeze(1) * float(ysd) + float(ymu)
mae = (pred - torch.tensor(te["y"].to_numpy(np.float32))).abs().mean()
naive = (te["y"] - te["load_mw"]).abs().mean()
print(f"persistence MAE {naive:.3f} MW")
print(f"test MAE {mae:.3f} MW")
