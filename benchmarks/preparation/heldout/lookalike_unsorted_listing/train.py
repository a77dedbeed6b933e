import csv
import random
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

torch.manual_seed(25)

with open("areas.csv") as f:
    area = {r["leaf"]: float(r["area_cm2"]) for r in csv.DictReader(f)}

files = list(Path("leaves").iterdir())
random.Random(25).shuffle(files)
print(len(files), "scans,", len(area), "measured leaves")

x = torch.stack([torch.from_numpy(np.array(Image.open(f), dtype=np.float32)) for f in files])[:, None] / 128 - 1.4
y = torch.tensor([area[f.stem] for f in files])

split = int(0.8 * len(files))
mu, sd = y[:split].mean(), y[:split].std()
z = (y - mu) / sd

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Linear(16 * 64, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(25):
    total = 0.0
    for b in torch.randperm(split).split(20):
        loss = nn.functional.mse_loss(net(x[b]), z[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b) / split
    if epoch % 5 == 4:
        with torch.no_grad():
            pred = net(x[split:]) * sd + mu
        err = (pred - y[split:]).abs().mean().item()
        base = (mu - y[split:]).abs().mean().item()
        r2 = 1 - ((pred - y[split:]) ** 2).sum() / ((y[split:] - y[split:].mean()) ** 2).sum()
        print(f"epoch {epoch + 1} train mse {total:.3f} test error {err:.2f} cm2 (mean guess {base:.2f}) R2 {r2.item():.3f}")
