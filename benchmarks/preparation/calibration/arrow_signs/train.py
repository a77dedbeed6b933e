import os
import random

import albumentations as A
import numpy as np
import pandas as pd
import torch
from albumentations.pytorch import ToTensorV2
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 1234
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

train_tf = A.Compose([
    A.HorizontalFlip(p=0.5),
    A.RandomBrightnessContrast(p=0.5),
    A.Affine(translate_percent=0.06, scale=(0.92, 1.08), p=0.6),
    A.Normalize(mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25)),
    ToTensorV2(),
], seed=SEED)
test_tf = A.Compose([A.Normalize(mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25)), ToTensorV2()])


class SignDataset(Dataset):
    def __init__(self, index, classes, transform, root="signs"):
        self.images = [np.array(Image.open(os.path.join(root, f)).convert("RGB")) for f in index["file"]]
        self.targets = [classes.index(s) for s in index["sign"]]
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        return self.transform(image=self.images[idx])["image"], self.targets[idx]


index = pd.read_csv("signs/index.csv")
classes = sorted(index["sign"].unique())
train_ds = SignDataset(index[index["part"] == "train"], classes, train_tf)
test_ds = SignDataset(index[index["part"] == "test"], classes, test_tf)
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=120)
print(classes, len(train_ds), len(test_ds))

model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(), nn.Linear(64, len(classes)),
)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
crit = nn.CrossEntropyLoss()

for epoch in range(8):
    model.train()
    total = 0.0
    for x, y in train_dl:
        opt.zero_grad()
        loss = crit(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    print(f"epoch {epoch + 1} train loss {total / len(train_ds):.3f}")

model.eval()
confusion = torch.zeros(len(classes), len(classes), dtype=torch.long)
with torch.no_grad():
    for x, y in test_dl:
        for t, p in zip(y, model(x).argmax(1)):
            confusion[t, p] += 1
print(pd.DataFrame(confusion.numpy(), classes, classes))
print(f"test accuracy = {confusion.diag().sum().item() / confusion.sum().item():.3f}")
