import json
import os

import cv2
import numpy as np
import torch
from torch import nn

ROOT = "birds"
EPOCHS = 24
torch.manual_seed(21)


def read_all(root):
    with open(os.path.join(root, "annotations.json")) as fh:
        annotations = json.load(fh)["annotations"]
    images, points = [], []
    for a in annotations:
        img = cv2.cvtColor(cv2.imread(os.path.join(root, a["image"])), cv2.COLOR_BGR2RGB)
        images.append(img)
        points.append([a["beak_tip"]["x"], a["beak_tip"]["y"]])
    return np.stack(images), np.array(points, dtype=np.float32)


images, points = read_all(ROOT)
size = np.array(images.shape[1:3], dtype=np.float32)
targets = points / size
print("images", images.shape, "points", points.min(0), "to", points.max(0))

x = torch.from_numpy(images).permute(0, 3, 1, 2).float().div(255).sub(0.5)
t = torch.from_numpy(targets)
n_val = 100
x_tr, t_tr, x_va, t_va = x[:-n_val], t[:-n_val], x[-n_val:], t[-n_val:]


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.ReLU(inplace=True),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(inplace=True),
        )
        self.regress = nn.Sequential(nn.Flatten(), nn.Linear(32 * 10 * 18, 64), nn.ReLU(inplace=True), nn.Linear(64, 2))

    def forward(self, x):
        return torch.sigmoid(self.regress(self.features(x)))


def pixel_error(model):
    model.eval()
    with torch.no_grad():
        p = model(x_va).numpy() * size
    return np.linalg.norm(p - points[-n_val:], axis=1).mean()


model = PointNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1.5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 12, 0.3)
for epoch in range(EPOCHS):
    model.train()
    losses = []
    for idx in torch.randperm(len(x_tr)).split(32):
        loss = nn.functional.smooth_l1_loss(model(x_tr[idx]), t_tr[idx], beta=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:02d} loss {np.mean(losses):.5f}")
print(f"mean distance on {n_val} images: {pixel_error(model):.2f} px")
