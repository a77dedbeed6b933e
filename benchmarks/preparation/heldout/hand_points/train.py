import math

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 64
MAX_ANGLE = 45


def turn(im, pts, degrees):
    """rotate the picture and its points about the middle of the picture"""
    im = im.rotate(degrees, resample=Image.BILINEAR, fillcolor=60)
    t = math.radians(degrees)
    rot = np.array([[math.cos(t), -math.sin(t)],
                    [math.sin(t), math.cos(t)]])
    mid = np.array([im.width / 2, im.height / 2])
    return im, (pts - mid) @ rot.T + mid


class HandPoints(Dataset):
    def __init__(self, table, rng=None):
        self.ims = [Image.open("hands/" + n).copy() for n in table["image"]]
        self.pts = table.loc[:, "thumb_x":"little_y"].to_numpy(float).reshape(-1, 3, 2)
        self.rng = rng

    def __len__(self):
        return len(self.ims)

    def __getitem__(self, i):
        im, pts = self.ims[i], self.pts[i]
        if self.rng is not None:
            im, pts = turn(im, pts, self.rng.uniform(-MAX_ANGLE, MAX_ANGLE))
        x = torch.from_numpy(np.asarray(im, dtype=np.float32) / 128 - 1)
        return x[None], torch.from_numpy(pts / SIDE).float()


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(1, 12, 5, 2, 2), nn.BatchNorm2d(12), nn.ReLU(),
            nn.Conv2d(12, 24, 5, 1, 2), nn.BatchNorm2d(24), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, 1, 1), nn.ReLU(),
            nn.Conv2d(32, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2))
        self.g = nn.Sequential(nn.Flatten(), nn.Linear(32 * 64, 64), nn.ReLU(), nn.Linear(64, 6))

    def forward(self, x):
        return self.g(self.f(x)).view(-1, 3, 2) * 0.2 + 0.5


def pixel_error(net, loader):
    net.eval()
    with torch.no_grad():
        e = [((net(x) - y) * SIDE).norm(dim=2) for x, y in loader]
    return torch.cat(e).mean().item()


table = pd.read_csv("points.csv")
torch.manual_seed(21)
train_loader = DataLoader(HandPoints(table[table.part == "train"], np.random.default_rng(21)), batch_size=24, shuffle=True)
test_loader = DataLoader(HandPoints(table[table.part == "test"]), batch_size=100)

net = PointNet()
optim = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(16):
    net.train()
    losses = []
    for x, y in train_loader:
        loss = nn.functional.l1_loss(net(x), y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        losses.append(loss.item())
    if epoch % 5 == 0 or epoch == 15:
        print(f"{epoch:>3} train l1 {np.mean(losses):.4f}   test error {pixel_error(net, test_loader):.2f} px")
