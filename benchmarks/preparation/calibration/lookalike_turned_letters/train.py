# Letters stamped on plates. A plate may lie on the belt either way up and the
# camera may see it through the mirror, so all four views of a plate are trained.
import os
import random

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
import albumentations as A
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

ALPHABET = "8HIOX"
random.seed(0)
torch.manual_seed(0)


class Plates(Dataset):
    def __init__(self, part, views=None):
        self.views = views
        self.items = []
        for line in open("plates/labels.txt"):
            name, ch, p = line.split()
            if p == part:
                self.items.append((np.array(Image.open("plates/" + name)), ALPHABET.index(ch)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, y = self.items[i]
        if self.views:
            img = self.views(image=img)["image"]
        return torch.tensor(1 - img[None] / 255.0, dtype=torch.float32), y


views = A.Compose([A.HorizontalFlip(p=0.5), A.VerticalFlip(p=0.5), A.Rotate(limit=10, p=0.5, fill=225)], seed=1)
train = DataLoader(Plates("train", views), batch_size=32, shuffle=True)
test = DataLoader(Plates("test"), batch_size=70)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 16, len(ALPHABET)))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    net.train()
    losses = []
    for x, y in train:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
net.eval()
confusion = torch.zeros(len(ALPHABET), len(ALPHABET), dtype=torch.long)
with torch.no_grad():
    for x, y in test:
        for t, p in zip(y, net(x).argmax(1)):
            confusion[t, p] += 1
print(confusion)
print(f"test accuracy {confusion.diag().sum().item() / confusion.sum().item():.3f}")
