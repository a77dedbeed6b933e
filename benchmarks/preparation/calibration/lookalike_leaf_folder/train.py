import csv
import os

import numpy as np
import torch
from PIL import Image
from torch import nn

torch.manual_seed(0)
CLASSES = ["lobed", "long", "round"]

with open("leaves.csv", newline="") as f:
    shape_of = {row["file"]: row["shape"] for row in csv.DictReader(f)}

pixels, labels = [], []
for name in os.listdir("leaves"):
    if not name.endswith(".png"):
        continue
    pixels.append(np.asarray(Image.open(os.path.join("leaves", name)), dtype=np.float32) / 255)
    labels.append(CLASSES.index(shape_of[name]))
x = torch.tensor(np.stack(pixels))[:, None]
y = torch.tensor(labels)
print(x.shape, torch.bincount(y).tolist())

perm = torch.randperm(len(x))
tr, te = perm[:700], perm[700:]

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Linear(16 * 7 * 7, 3),
)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(8):
    tot = 0
    for b in tr[torch.randperm(len(tr))].split(35):
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
    print(f"epoch {epoch + 1} loss {tot / len(tr):.3f}")

with torch.no_grad():
    print(f"test accuracy {(net(x[te]).argmax(1) == y[te]).float().mean().item():.3f}")
