"""Pretrain a conv backbone on one task, then fine-tune: head first with frozen backbone, then everything at low lr."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def bars(n, classes):
    """16x16 image with a line; pretraining: 8 orientations, target task: 3 coarse ones with few samples."""
    y8 = torch.randint(0, 8, (n,))
    ang = y8 * torch.pi / 8 + 0.1 * (torch.rand(n) - 0.5)
    g = torch.arange(16).float() - 7.5
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    d = xx[None] * ang.sin()[:, None, None] - yy[None] * ang.cos()[:, None, None]
    img = (d + 3 * (torch.rand(n, 1, 1) - 0.5)).abs().lt(1.2).float()
    img = (img + 0.6 * torch.randn_like(img) - 0.15) / 0.7
    y = y8 if classes == 8 else torch.tensor([0, 1, 1, 2, 2, 2, 1, 0])[y8]
    return TensorDataset(img[:, None], y)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, stride=2, padding=2)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 16, 64)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return F.relu(self.fc(x.flatten(1)))


def fit(backbone, head, data, optimizer, epochs, frozen=False):
    loader = DataLoader(data, batch_size=32, shuffle=True)
    for epoch in range(epochs):
        head.train()
        backbone.train(not frozen)
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(head(backbone(x)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
    return total / len(loader)


def accuracy(backbone, head, data):
    backbone.eval(); head.eval()
    x, y = data.tensors
    with torch.no_grad():
        return (head(backbone(x)).argmax(1) == y).float().mean().item()


backbone = Backbone()
pre_head = nn.Linear(64, 8)
opt = torch.optim.Adam([*backbone.parameters(), *pre_head.parameters()], lr=2e-3)
print("pretraining loss", round(fit(backbone, pre_head, bars(1500, 8), opt, 4), 4))

small_train, test = bars(160, 3), bars(600, 3)
head = nn.Linear(64, 3)
for p in backbone.parameters():
    p.requires_grad = False
opt = torch.optim.Adam(head.parameters(), lr=5e-3)
loss = fit(backbone, head, small_train, opt, 12, frozen=True)
print(f"frozen backbone: loss {loss:.4f} test acc {accuracy(backbone, head, test):.3f}")

for p in backbone.parameters():
    p.requires_grad = True
opt = torch.optim.Adam([{"params": backbone.parameters(), "lr": 2e-4}, {"params": head.parameters(), "lr": 1e-3}])
loss = fit(backbone, head, small_train, opt, 8)
print(f"all unfrozen:    loss {loss:.4f} test acc {accuracy(backbone, head, test):.3f}")
