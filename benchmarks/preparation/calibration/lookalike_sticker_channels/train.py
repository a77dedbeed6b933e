"""Sticker colour at the sorting gate. The gate itself runs on OpenCV frames."""
import os
import time

import cv2
import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
COLOURS = ["blue", "green", "red", "violet"]


def frame(path):
    img = cv2.imread(path)
    img = cv2.resize(img, (32, 32), interpolation=cv2.INTER_AREA)
    return img.astype(np.float32).transpose(2, 0, 1) / 255.0


def folder(part):
    x, y = [], []
    for k, c in enumerate(COLOURS):
        d = os.path.join("stickers", part, c)
        for f in sorted(os.listdir(d)):
            x.append(frame(os.path.join(d, f)))
            y.append(k)
    return np.stack(x), np.array(y)


class Norm(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(1, 3, 1, 1))

    def forward(self, x):
        return (x - self.mean) / self.std


xtr, ytr = folder("train")
xte, yte = folder("test")
model = nn.Sequential(
    Norm(xtr.mean((0, 2, 3)), xtr.std((0, 2, 3))),
    nn.Conv2d(3, 12, 5, stride=2), nn.ReLU(),
    nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(24 * 9, len(COLOURS)))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
xtr, ytr, xte, yte = map(torch.as_tensor, (xtr, ytr, xte, yte))

start = time.time()
for epoch in range(15):
    loss_sum = 0.0
    for b in torch.randperm(len(xtr)).split(30):
        loss = nn.functional.cross_entropy(model(xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        loss_sum += loss.item() * len(b)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {loss_sum / len(xtr):.4f}")
with torch.no_grad():
    acc = (model(xte).argmax(1) == yte).float().mean().item()
print(f"test accuracy {acc:.3f} after {time.time() - start:.1f} s")
