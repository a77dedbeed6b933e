import csv
import io
import os
import random

import torch
import torch.nn as nn

# weather station export, some readings are missing
r = random.Random(2)
buf = io.StringIO()
w = csv.writer(buf)
w.writerow(["temp", "pressure", "wind", "humidity", "rain"])
for _ in range(1000):
    t, p, v, h = r.uniform(-5, 30), r.uniform(980, 1040), r.uniform(0, 20), r.uniform(20, 100)
    rain = int(0.05 * (h - 60) - 0.08 * (p - 1010) + r.gauss(0, 0.5) > 0)
    w.writerow([f"{t:.1f}", "" if r.random() < 0.03 else f"{p:.1f}", f"{v:.1f}", f"{h:.0f}", rain])
buf.seek(0)
rows = list(csv.DictReader(buf))
cols = ["temp", "pressure", "wind", "humidity"]
X = torch.tensor([[float(row[c]) if row[c] else float("nan") for c in cols] for row in rows])
y = torch.tensor([[float(row["rain"])] for row in rows])

torch.manual_seed(int(os.environ.get("SEED", 0)))
Xtr, Xte, ytr, yte = X[:800], X[800:], y[:800], y[800:]
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
lossf = nn.BCEWithLogitsLoss()
for epoch in range(15):
    for i in torch.randperm(800).split(32):
        opt.zero_grad()
        loss = lossf(net(Xtr[i]), ytr[i])
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    acc = ((net(Xte) > 0).float() == yte).float().mean()
print("test accuracy", acc.item())
