"""Find hub and tip of the needle on dial photographs. Hand-held photographs are tilted, hence the rotation."""
import math
import random

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

MAX_TILT = 40
SIZE = 64


def rotate_points(points, degrees, centre):
    t = math.radians(degrees)
    rot = np.array([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]], dtype=np.float32)
    return (points - centre) @ rot.T + centre


class Dials(Dataset):
    def __init__(self, table, part, tilt):
        t = table[table["part"] == part]
        self.images = [Image.open(f"dials/{f}").copy() for f in t["file"]]
        self.points = t[["hub_x", "hub_y", "tip_x", "tip_y"]].to_numpy(np.float32).reshape(-1, 2, 2)
        self.tilt = tilt

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        im, pts = self.images[i], self.points[i]
        if self.tilt:
            angle = random.uniform(-self.tilt, self.tilt)
            im = im.rotate(angle, resample=Image.BILINEAR, fillcolor=205)
            pts = rotate_points(pts, angle, SIZE / 2)
        x = torch.from_numpy(np.asarray(im, dtype=np.float32) / 128 - 1)[None]
        return x, torch.from_numpy((pts / SIZE - 0.5).astype(np.float32).reshape(-1))


def make_net():
    def b(i, o):
        return [nn.Conv2d(i, o, 3, stride=2, padding=1), nn.BatchNorm2d(o), nn.ReLU()]
    return nn.Sequential(*b(1, 12), *b(12, 24), *b(24, 32), nn.Flatten(), nn.Linear(32 * 64, 64), nn.ReLU(), nn.Linear(64, 4))


def main():
    random.seed(1)
    torch.manual_seed(1)
    table = pd.read_csv("dials.csv")
    train = DataLoader(Dials(table, "train", MAX_TILT), batch_size=32, shuffle=True)
    test = DataLoader(Dials(table, "test", 0), batch_size=64)
    net = make_net()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=40 * len(train))
    for epoch in range(40):
        net.train()
        s = 0.0
        for x, y in train:
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            s += loss.item() * len(x)
        if epoch % 8 == 7:
            print("epoch %d  rmse %.2f px" % (epoch + 1, SIZE * math.sqrt(s / len(train.dataset))))
    net.eval()
    d = []
    with torch.no_grad():
        for x, y in test:
            d.append(((net(x) - y) * SIZE).reshape(-1, 2, 2).norm(dim=-1))
    d = torch.cat(d)
    print("test mean error: hub %.2f px, tip %.2f px" % (d[:, 0].mean(), d[:, 1].mean()))


main()
