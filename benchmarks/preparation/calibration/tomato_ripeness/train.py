import os
os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
import albumentations as A
import imageio.v3 as iio
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

STAGES = ["green", "turning", "pink", "red"]
BATCH = 35
torch.manual_seed(44)

train_tf = A.Compose([
    A.HorizontalFlip(p=0.5),
    A.VerticalFlip(p=0.5),
    A.ColorJitter(brightness=0.25, contrast=0.25, saturation=0.2, hue=0.2, p=0.9),
    A.GaussNoise(std_range=(0.01, 0.04), p=0.3),
], seed=44)

df = pd.read_csv("crates.csv")
df["y"] = df["stage"].map({s: i for i, s in enumerate(STAGES)})
photos = {p: iio.imread(f"crates/{p}") for p in df["photo"]}
tr = df[df["fold"] == "train"].reset_index(drop=True)
ev = df[df["fold"] == "eval"].reset_index(drop=True)


def batch(rows, tf=None):
    xs = []
    for p in rows["photo"]:
        img = photos[p] if tf is None else tf(image=photos[p])["image"]
        xs.append(img.transpose(2, 0, 1))
    x = torch.from_numpy(np.stack(xs)).float().div_(255).sub_(0.5)
    return x, torch.tensor(rows["y"].to_numpy())


class RipeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(3))
        self.c = nn.Sequential(nn.Flatten(), nn.Linear(32 * 9, 48), nn.ReLU(), nn.Linear(48, len(STAGES)))

    def forward(self, x):
        return self.c(self.f(x))


model = RipeNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(15):
    model.train()
    shuffled = tr.sample(frac=1, random_state=epoch)
    running = 0.0
    for i in range(0, len(shuffled), BATCH):
        x, y = batch(shuffled.iloc[i:i + BATCH], train_tf)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d} loss {running / len(tr):.4f}")

model.eval()
x, y = batch(ev)
with torch.no_grad():
    guess = model(x).argmax(1)
print(pd.crosstab(ev["stage"], pd.Series(guess.numpy(), name="guess").map(dict(enumerate(STAGES)))).to_string())
print(f"eval accuracy: {(guess == y).float().mean():.3f}")
