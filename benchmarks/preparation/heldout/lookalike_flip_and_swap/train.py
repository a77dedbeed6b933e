import albumentations as A
import imageio.v3 as iio
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(1)
gen = np.random.default_rng(1)

df = pd.read_csv("gloves.csv")
KINDS = ["left", "mitten", "right"]
MIRRORED = np.array([2, 1, 0])
photos = np.stack([iio.imread("gloves/" + p) for p in df.photo])
y = df.kind.map(KINDS.index).to_numpy()
is_test = np.arange(len(df)) % 4 == 0

flip = A.HorizontalFlip(p=1.0)
shake = A.Compose([A.Affine(rotate=(-10, 10), translate_percent=(-0.06, 0.06), fill=180, p=0.8), A.GaussNoise(std_range=(0.01, 0.04), p=0.5)], seed=1)


def training_batch(idx):
    xs, ys = [], []
    for i in idx:
        im, t = photos[i], y[i]
        if gen.random() < 0.5:
            im, t = flip(image=im)["image"], MIRRORED[t]
        xs.append(shake(image=im)["image"])
        ys.append(t)
    return to_input(np.stack(xs)), torch.tensor(ys)


def to_input(a):
    return torch.from_numpy(a.astype(np.float32))[:, None] / 100 - 1.4


model = nn.Sequential(
    nn.Conv2d(1, 12, 3, 2, 1), nn.BatchNorm2d(12), nn.ReLU(),
    nn.Conv2d(12, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.ReLU(),
    nn.Conv2d(24, 24, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(600, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
train_idx = np.flatnonzero(~is_test)
for epoch in range(20):
    model.train()
    total = 0.0
    for part in np.array_split(gen.permutation(train_idx), 10):
        xb, yb = training_batch(part)
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    if epoch % 4 == 3:
        model.eval()
        with torch.no_grad():
            pred = model(to_input(photos[is_test])).argmax(1).numpy()
        print(f"epoch {epoch + 1:2d} train loss {total:.3f} test accuracy {(pred == y[is_test]).mean():.3f}")
print(pd.crosstab(df.kind[is_test].to_numpy(), np.array(KINDS)[pred]))
