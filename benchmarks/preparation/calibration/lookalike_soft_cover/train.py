"""Share of ground covered by the crop in every cell of a 24 x 24 grid.

The mask is drawn at full resolution; a cell's target is the covered share of its area.
"""
import glob

import cv2
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

GRID = 24
SIDE = 96


def read(stem):
    img = cv2.cvtColor(cv2.imread(stem + ".jpg"), cv2.COLOR_BGR2RGB)
    mask = cv2.imread(stem + "_crop.png", cv2.IMREAD_GRAYSCALE)
    cover = cv2.resize(mask, (GRID, GRID), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    return img.astype(np.float32).transpose(2, 0, 1) / 255 - 0.4, cover


class CoverNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 12, 5, stride=2, padding=2)
        self.b = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.c = nn.Conv2d(24, 1, 3, padding=1)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x))))).squeeze(1)


stems = sorted(p[:-4] for p in glob.glob("fields/*.jpg"))
pairs = [read(s) for s in stems]
X = torch.tensor(np.stack([p[0] for p in pairs]))
T = torch.tensor(np.stack([p[1] for p in pairs]))
cut = int(0.75 * len(X))
torch.manual_seed(1)
net = CoverNet()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(12):
    s = 0.0
    for idx in torch.randperm(cut).split(15):
        loss = F.binary_cross_entropy_with_logits(net(X[idx]), T[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(idx)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {s / cut:.4f}")
with torch.no_grad():
    p = net(X[cut:]).sigmoid()
t = T[cut:]
print(f"mean absolute error per cell {(p - t).abs().mean():.4f}")
print(f"error of the field's total share {(p.mean((1, 2)) - t.mean((1, 2))).abs().mean():.4f}")
print(f"R2 over test cells {1 - ((p - t) ** 2).sum().item() / ((t - t.mean()) ** 2).sum().item():.3f}")
