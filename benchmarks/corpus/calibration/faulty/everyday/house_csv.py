import csv
import os
import random
import tempfile

import numpy as np
import torch
from torch import nn

# --- write a table like the one from the city office ---
rng = random.Random(1)
path = os.path.join(tempfile.mkdtemp(), "houses.csv")
with open(path, "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["area", "rooms", "year", "distance", "price"])
    for _ in range(900):
        area, rooms = rng.uniform(30, 250), rng.randint(1, 7)
        year, dist = rng.randint(1900, 2020), rng.uniform(0.2, 30)
        price = 2400 * area + 9000 * rooms + 600 * (year - 1900) - 3500 * dist + rng.gauss(0, 9000)
        w.writerow([round(area, 1), rooms, year, round(dist, 2), round(price)])

torch.manual_seed(int(os.environ.get("SEED", 0)))
with open(path) as f:
    rows = list(csv.DictReader(f))
X = np.array([[float(r[k]) for k in ("area", "rooms", "year", "distance")] for r in rows], dtype=np.float32)
y = np.array([float(r["price"]) for r in rows], dtype=np.float32)
X_train, X_val = X[:700], X[700:]
y_train, y_val = y[:700], y[700:]

model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()
Xt, yt = torch.from_numpy(X_train), torch.from_numpy(y_train).unsqueeze(1)
Xv, yv = torch.from_numpy(X_val), torch.from_numpy(y_val).unsqueeze(1)

for epoch in range(60):
    perm = torch.randperm(len(Xt))
    for start in range(0, len(Xt), 32):
        batch = perm[start : start + 32]
        optimizer.zero_grad()
        loss = criterion(model(Xt[batch]), yt[batch])
        loss.backward()
        optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch} train loss {loss.item():.1f}")

with torch.no_grad():
    pred = model(Xv)
r2 = 1 - ((pred - yv) ** 2).sum() / ((yv - yv.mean()) ** 2).sum()
print(f"val R2 {r2.item():.4f}")
