import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import CellDataset, Compose, RandomFlip

random.seed(0)
torch.manual_seed(0)
EPOCHS, LR, BS = 8, 3e-3, 10


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.body(x)


class TinyUNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.d1, self.d2, self.d3 = DoubleConv(1, w), DoubleConv(w, 2 * w), DoubleConv(2 * w, 2 * w)
        self.u2, self.u1 = DoubleConv(4 * w, w), DoubleConv(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2.0), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2.0), a], 1))
        return self.out(a)


train_loader = DataLoader(CellDataset("train", Compose([RandomFlip()])), batch_size=BS, shuffle=True)
val_loader = DataLoader(CellDataset("val"), batch_size=25)

model = TinyUNet()
optimizer = torch.optim.Adam(model.parameters(), lr=LR)
for epoch in range(1, EPOCHS + 1):
    model.train()
    loss_sum = 0.0
    for img, msk in train_loader:
        loss = F.binary_cross_entropy_with_logits(model(img), msk)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
    model.eval()
    inter = union = 0.0
    with torch.no_grad():
        for img, msk in val_loader:
            p = model(img) > 0
            t = msk > 0.5
            inter += (p & t).sum().item()
            union += (p | t).sum().item()
    print(f"epoch {epoch:2d}  train bce {loss_sum / len(train_loader):.4f}  val IoU {inter / union:.4f}")
