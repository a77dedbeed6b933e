"""Sleep stages from a wrist band.

Nights are scored in the morning, once the whole recording has been read from the band; the result goes into the
sleep diary. Every half-minute epoch of a night gets one of four stages.
"""
import numpy as np
import pandas as pd
import torch
from torch import nn

STAGES = ["wake", "light", "deep", "rem"]
SIGNALS = ["activity", "heart_rate", "skin_temp"]
torch.manual_seed(8)

df = pd.read_csv("wrist_nights.csv.gz").sort_values(["night", "epoch"], ignore_index=True)
df["activity"] = np.log1p(df["activity"])
per_night = df.groupby("night")
for s in SIGNALS:
    df[s] = (df[s] - per_night[s].transform("mean")) / per_night[s].transform("std")

blocks = [df[SIGNALS]]
for width in (5, 15, 41):
    roll = df.groupby("night")[SIGNALS].rolling(width, center=True, min_periods=1)
    blocks.append(roll.mean().droplevel(0).add_suffix(f"_m{width}"))
    blocks.append(roll.std().droplevel(0).fillna(0).add_suffix(f"_s{width}"))
blocks.append(df.groupby("night")[SIGNALS].shift(-1).fillna(0).add_suffix("_next"))
blocks.append(df.groupby("night")[SIGNALS].shift(1).fillna(0).add_suffix("_prev"))
X = pd.concat(blocks, axis=1).sort_index()

nights = df["night"].unique()
test_nights = nights[-7:]
test = df["night"].isin(test_nights).to_numpy(copy=True)
x = torch.tensor(X.to_numpy(), dtype=torch.float32)
y = torch.tensor(pd.Categorical(df["stage"], categories=STAGES).codes.astype(np.int64))
xa, ya, xb, yb = x[~test], y[~test], x[test], y[test]
print(f"{len(nights) - 7} nights to learn from, 7 nights to score, {x.shape[1]} inputs")

net = nn.Sequential(nn.Linear(x.shape[1], 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(12):
    net.train()
    tot = 0.0
    for i in torch.randperm(len(xa)).split(128):
        loss = nn.functional.cross_entropy(net(xa[i]), ya[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {tot / len(xa):.3f}")

net.eval()
with torch.no_grad():
    guess = net(xb).argmax(1)
for k, s in enumerate(STAGES):
    print(f"{s:6s} {(guess[yb == k] == k).float().mean():.2f}")
print(f"agreement with the scorer {(guess == yb).float().mean():.3f}")
