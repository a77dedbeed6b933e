"""Read the value on a coin."""
import os
os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"

import albumentations as A
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

N = 32
AUGMENT = A.Compose([
    A.RandomResizedCrop(size=(N, N), scale=(0.3, 1.0), p=0.7),
    A.Rotate(limit=25, p=0.4),
    A.CoarseDropout(num_holes_range=(1, 2), hole_height_range=(5, 10), hole_width_range=(5, 10), p=0.6),
    A.RandomBrightnessContrast(p=0.4),
], seed=3)


class Coins(Dataset):
    def __init__(self, root, transform=None):
        self.values = sorted(os.listdir(root), key=int)
        self.paths = [(os.path.join(root, v, f), k) for k, v in enumerate(self.values)
                      for f in sorted(os.listdir(os.path.join(root, v)))]
        self.images = [np.array(Image.open(p)) for p, _ in self.paths]
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        img = self.images[i]
        if self.transform:
            img = self.transform(image=img)["image"]
        return torch.from_numpy(img[None].astype(np.float32) / 255 - 0.5), self.paths[i][1]


def net(n):
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(48 * 16, 64), nn.ReLU(), nn.Linear(64, n))


torch.manual_seed(8)
data = Coins("coins", AUGMENT)
n_test = int(0.3 * len(data))
train_part, test_part = random_split(data, [len(data) - n_test, n_test], generator=torch.Generator().manual_seed(8))
train_loader = DataLoader(train_part, batch_size=24, shuffle=True)
test_loader = DataLoader(test_part, batch_size=72)

model = net(len(data.values))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(16):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    if epoch % 5 == 1:
        print(f"epoch {epoch + 1}: train loss {total / len(train_part):.4f}")

model.eval()
hits = 0
with torch.no_grad():
    for x, y in test_loader:
        hits += (model(x).argmax(1) == y).sum().item()
print(f"test accuracy {hits / len(test_part):.3f} on {len(test_part)} coins")
