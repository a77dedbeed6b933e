import os
from pathlib import Path

os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")

import albumentations as A
import cv2
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SEED = 23


class RiverTiles(Dataset):
    def __init__(self, root, part, augment=None):
        base = Path(root) / part
        self.images = sorted((base / "images").glob("*.png"))
        self.masks = [base / "masks" / p.name for p in self.images]
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = cv2.cvtColor(cv2.imread(str(self.images[index])), cv2.COLOR_BGR2RGB)
        mask = cv2.imread(str(self.masks[index]), cv2.IMREAD_GRAYSCALE)
        if self.augment is not None:
            image = self.augment(image=image)["image"]
            mask = self.augment(image=mask)["image"]
        x = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))).float() / 255.0
        y = torch.from_numpy((mask > 127).astype(np.float32)).unsqueeze(0)
        return x - 0.4, y


class TinyUNet(nn.Module):
    def __init__(self, w=10):
        super().__init__()
        def cbr(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())
        self.e1, self.e2, self.mid = cbr(3, w), cbr(w, 2 * w), cbr(2 * w, 2 * w)
        self.d2, self.d1 = cbr(4 * w, w), cbr(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)
        self.pool, self.up = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)

    def forward(self, x):
        a = self.e1(x)
        b = self.e2(self.pool(a))
        m = self.mid(self.pool(b))
        b = self.d2(torch.cat([self.up(m), b], 1))
        return self.out(self.d1(torch.cat([self.up(b), a], 1)))


def iou(net, loader):
    net.eval()
    inter = union = 0
    with torch.no_grad():
        for x, y in loader:
            p = net(x) > 0
            inter += (p & y.bool()).sum().item()
            union += (p | y.bool()).sum().item()
    return inter / max(union, 1)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    augment = A.Compose([A.HorizontalFlip(p=0.5), A.VerticalFlip(p=0.5), A.Transpose(p=0.3)], seed=SEED)
    train = DataLoader(RiverTiles("rivers", "train", augment), batch_size=20, shuffle=True)
    valid = DataLoader(RiverTiles("rivers", "valid"), batch_size=40)
    net = TinyUNet()
    lossf = nn.BCEWithLogitsLoss()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(8):
        net.train()
        total = 0.0
        for x, y in train:
            loss = lossf(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train):.3f}")
    print(f"valid IoU: {iou(net, valid):.3f}")
