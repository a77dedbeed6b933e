import cv2
import numpy as np
import pandas as pd
import torch
from torch import nn

LEVEL, WIDTH = 350, 1300      # bone window in Hounsfield units
OFFSET = 1024                 # stored value = HU + 1024

torch.manual_seed(19)


def bone_window(path):
    raw = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    hu = raw.astype(np.int32) - OFFSET
    low = LEVEL - WIDTH // 2
    view = np.clip((hu - low) / WIDTH, 0, 1)
    return (view * 255).round().astype(np.uint8)


readings = pd.read_csv("readings.csv")
kinds = sorted(readings.finding.unique())
slices = np.stack([bone_window("ct/" + s) for s in readings.slice])
print("grey values after windowing:", slices.min(), "to", slices.max(), "mean %.1f" % slices.mean())
x = torch.from_numpy(slices).float()[:, None] / 64 - 1.5
y = torch.tensor(readings.finding.map(kinds.index).to_numpy())
n = 420


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU())
        self.out = nn.Linear(48, len(kinds))

    def forward(self, x):
        h = self.conv(x).flatten(2)
        return self.out(torch.cat([h.mean(2), h.amax(2)], 1))


net = Reader()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
for epoch in range(14):
    net.train()
    running = []
    for b in torch.randperm(n).split(28):
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running.append(loss.item())
    if epoch % 4 == 1:
        net.eval()
        with torch.no_grad():
            acc = (net(x[n:]).argmax(1) == y[n:]).float().mean().item()
        print(f"epoch {epoch + 1:2d} loss {np.mean(running):.3f} test accuracy {acc:.3f}")
