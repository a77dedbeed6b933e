"""Landmarks of fish (snout, base of the tail) with heatmaps."""
import csv
import os

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn

SIDE = 64
SIGMA = 2.0
POINTS = ["snout", "tail"]


def gaussian(shape, centre, sigma=SIGMA):
    h, w = shape
    rows = np.arange(h)[:, None]
    cols = np.arange(w)[None, :]
    r0, c0 = centre
    return np.exp(-((rows - r0) ** 2 + (cols - c0) ** 2) / (2 * sigma ** 2)).astype(np.float32)


def read(table):
    imgs, maps, pts = [], [], []
    for row in csv.DictReader(open(table)):
        im = np.asarray(Image.open(os.path.join("tank", row["image"])), dtype=np.float32) / 255
        kp = np.array([[float(row[f"{p}_x"]), float(row[f"{p}_y"])] for p in POINTS], dtype=np.float32)
        imgs.append(im.transpose(2, 0, 1))
        maps.append(np.stack([gaussian((SIDE, SIDE), p) for p in kp]))
        pts.append(kp)
    return torch.tensor(np.stack(imgs)), torch.tensor(np.stack(maps)), torch.tensor(np.stack(pts))


class HourglassLite(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.d1 = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU())
        self.d2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(12, 24, 3, padding=1), nn.ReLU())
        self.d3 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(24, 32, 5, padding=2), nn.ReLU(),
                                nn.Conv2d(32, 24, 5, padding=2), nn.ReLU())
        self.u = nn.Conv2d(24, 12, 3, padding=1)
        self.out = nn.Conv2d(12, k, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(a)
        c = F.interpolate(self.d3(b), scale_factor=2) + b
        c = F.interpolate(F.relu(self.u(c)), scale_factor=2) + a
        return self.out(c)


def decode(maps):
    n, k, h, w = maps.shape
    flat = maps.reshape(n, k, -1).argmax(-1)
    return torch.stack([flat % w, flat // w], dim=-1).float()


torch.manual_seed(5)
X, M, P = read("landmarks.csv")
n_train = 240
Xtr, Mtr, Xte, Pte = X[:n_train], M[:n_train], X[n_train:], P[n_train:]
net = HourglassLite(len(POINTS))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(9):
    net.train()
    total = 0.0
    for i in torch.randperm(n_train).split(20):
        pred = net(Xtr[i])
        loss = ((pred - Mtr[i]) ** 2 * (1 + 20 * Mtr[i])).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(i)
    print(f"epoch {epoch:2d}  heatmap loss {total / n_train:.5f}")

net.eval()
with torch.no_grad():
    found = decode(net(Xte))
err = (found - Pte).norm(dim=-1)
for k, name in enumerate(POINTS):
    print(f"{name}: median error {err[:, k].median():.2f} px")
print(f"PCK@4px on {len(Xte)} test images: {(err < 4).float().mean():.3f}")
