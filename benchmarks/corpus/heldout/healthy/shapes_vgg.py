"""VGG-style convnet on synthetic 24x24 drawings: square / disc / cross / triangle."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
SIZE = 24


def draw(kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = np.random.uniform(8, 16, 2)
    r = np.random.uniform(4, 7)
    dy, dx = yy - cy, xx - cx
    if kind == 0:
        m = np.maximum(abs(dy), abs(dx)) < r
    elif kind == 1:
        m = dy**2 + dx**2 < r**2
    elif kind == 2:
        m = ((abs(dy) < 1.5) | (abs(dx) < 1.5)) & (np.maximum(abs(dy), abs(dx)) < r)
    else:
        m = (dy < r) & (dy > -r) & (abs(dx) < (dy + r) / 2)
    img = np.random.uniform(0.0, 0.3) + np.random.uniform(0.4, 0.7) * m
    return np.clip(img + 0.12 * np.random.randn(SIZE, SIZE), 0, 1).astype(np.float32)


class Shapes(Dataset):
    def __init__(self, n):
        self.labels = np.random.randint(0, 4, n)
        self.images = np.stack([draw(k) for k in self.labels])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        img = (torch.from_numpy(self.images[idx]) - 0.3) / 0.25
        return img.unsqueeze(0), self.labels[idx]


class MiniVGG(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.features = nn.Sequential(*self._stage(1, 8), *self._stage(8, 16))
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Linear(16 * 6 * 6, 64), nn.ReLU(inplace=True), nn.Dropout(0.3), nn.Linear(64, num_classes)
        )
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.zeros_(m.bias)

    @staticmethod
    def _stage(cin, cout):
        return [
            nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1), nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        ]

    def forward(self, x):
        return self.classifier(self.features(x))


train_loader = DataLoader(Shapes(900), batch_size=50, shuffle=True)
test_loader = DataLoader(Shapes(300), batch_size=100)
model = MiniVGG()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(8):
    model.train()
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, labels in test_loader:
            correct += (model(images).argmax(1) == labels).sum().item()
    print(f"Epoch {epoch + 1} last loss {loss.item():.3f} test accuracy {100 * correct / 300:.1f}%")
