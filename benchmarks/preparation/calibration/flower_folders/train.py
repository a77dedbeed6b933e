import os
from collections import Counter

import imageio.v3 as iio
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class FolderImages(Dataset):
    """One sub-folder per species below the root."""

    def __init__(self, root):
        self.classes = sorted(d for d in os.listdir(root) if os.path.isdir(os.path.join(root, d)))
        self.class_to_idx = {c: i for i, c in enumerate(self.classes)}
        self.items = []
        for c in self.classes:
            for f in sorted(os.listdir(os.path.join(root, c))):
                self.items.append((iio.imread(os.path.join(root, c, f)), self.class_to_idx[c]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, y = self.items[i]
        return to_input(img), y


def to_input(img):
    return torch.from_numpy(img.astype(np.float32).transpose(2, 0, 1) / 255.0 - 0.5)


def build(n):
    def block(i, o):
        return [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True), nn.MaxPool2d(2)]
    return nn.Sequential(*block(3, 16), *block(16, 32), *block(32, 48), nn.Flatten(), nn.Dropout(0.2),
                         nn.Linear(48 * 16, n))


def run_epoch(net, loader, opt=None):
    net.train(opt is not None)
    loss_sum = hits = n = 0
    for x, y in loader:
        with torch.set_grad_enabled(opt is not None):
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            opt.step()
        loss_sum += loss.item() * len(y)
        hits += (out.argmax(1) == y).sum().item()
        n += len(y)
    return loss_sum / n, hits / n


gen = torch.Generator().manual_seed(6)
torch.manual_seed(6)
full = FolderImages("flowers/train")
print(len(full), "images,", len(full.classes), "species")
n_val = len(full) // 6
train_set, val_set = random_split(full, [len(full) - n_val, n_val], generator=gen)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, generator=gen)
val_loader = DataLoader(val_set, batch_size=100)

net = build(len(full.classes))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(14):
    tr = run_epoch(net, train_loader, opt)
    va = run_epoch(net, val_loader)
    if epoch % 3 == 1:
        print(f"epoch {epoch}: train loss {tr[0]:.3f} acc {tr[1]:.3f} | val loss {va[0]:.3f} acc {va[1]:.3f}")

table = pd.read_csv("flowers/test.csv")
x_test = torch.stack([to_input(iio.imread(os.path.join("flowers/test", f))) for f in table["file"]])
y_test = torch.tensor([int(s) - 1 for s in table["species"]])
net.eval()
with torch.no_grad():
    guess = net(x_test).argmax(1)
print("most frequent guesses:", Counter(guess.tolist()).most_common(3))
print(f"test accuracy {(guess == y_test).float().mean().item():.3f}")
