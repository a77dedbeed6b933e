import csv
import zlib

import numpy as np
import torch
from PIL import Image
from torch import nn

torch.manual_seed(3)

with open("skin/lesions.csv", newline="") as f:
    rows = list(csv.DictReader(f))


def bucket(row):
    return zlib.crc32(row["patient_code"].encode()) % 100


def pixels(row):
    with Image.open("skin/" + row["image"]) as im:
        return np.asarray(im.convert("RGB"), dtype=np.float32) / 127.5 - 1


X = torch.from_numpy(np.stack([pixels(r) for r in rows])).permute(0, 3, 1, 2)
y = torch.tensor([float(r["finding"] == "malignant") for r in rows])
b = torch.tensor([bucket(r) for r in rows])
train_idx = (b < 75).nonzero()[:, 0]
test_idx = (b >= 75).nonzero()[:, 0]
print("images:", len(train_idx), "train", len(test_idx), "test; malignant", round(y.mean().item(), 2))

net = nn.Sequential(
    nn.Conv2d(3, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
    nn.Flatten(), nn.Dropout(0.3), nn.Linear(24 * 16, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
weight = (1 - y[train_idx]).sum() / y[train_idx].sum()

for epoch in range(20):
    net.train()
    order = train_idx[torch.randperm(len(train_idx))]
    s = 0.0
    for i in order.split(32):
        x = X[i]
        if torch.rand(1) < 0.5:
            x = x.flip(-1)
        loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y[i], pos_weight=weight)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(i)
    if epoch % 4 == 3:
        print("epoch", epoch + 1, "loss", round(s / len(order), 3))

net.eval()
with torch.no_grad():
    said = net(X[test_idx])[:, 0] > 0
true = y[test_idx] > 0.5
sens = (said & true).sum() / true.sum()
spec = (~said & ~true).sum() / (~true).sum()
print(f"sensitivity {sens:.3f} specificity {spec:.3f} balanced {(sens + spec) / 2:.3f}")
