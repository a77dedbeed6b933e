"""NIR spectra of grain -> moisture (%)."""
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(0)
np.random.seed(0)

SPECTRA = Path("spectra")

table = pd.read_csv("moisture.csv")
files = sorted(SPECTRA.glob("sample_*.txt"))
assert len(files) == len(table), "number of spectra and of reference values differ"

X = np.stack([np.loadtxt(f) for f in files]).astype("float32")
y = table["moisture_pct"].to_numpy("float32")
print(f"{len(X)} spectra, {X.shape[1]} bands, moisture {y.min():.1f} - {y.max():.1f} %")

# standard normal variate: every spectrum by itself
X = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)

idx = np.random.permutation(len(X))
cut = int(0.75 * len(X))
tr, te = idx[:cut], idx[cut:]

mu, sd = y[tr].mean(), y[tr].std()
Xtr, ytr = torch.from_numpy(X[tr]), torch.from_numpy((y[tr] - mu) / sd)
Xte, yte = torch.from_numpy(X[te]), torch.from_numpy(y[te])

net = nn.Sequential(nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
loss_fn = nn.SmoothL1Loss()

for epoch in range(1, 81):
    net.train()
    order = torch.randperm(len(Xtr))
    total = 0.0
    for b in order.split(32):
        opt.zero_grad()
        loss = loss_fn(net(Xtr[b]).squeeze(1), ytr[b])
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d}  loss {total / len(Xtr):.4f}")

net.eval()
with torch.no_grad():
    pred = net(Xte).squeeze(1) * sd + mu
rmse = torch.sqrt(((pred - yte) ** 2).mean()).item()
r2 = 1 - (((pred - yte) ** 2).sum() / ((yte - yte.mean()) ** 2).sum()).item()
print(f"RMSEP {rmse:.2f} %   R2 {r2:.3f}")
