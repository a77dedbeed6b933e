import glob
import os
import random

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)

ROOT = "leaves"
SIZE = 32
kinds = sorted(os.listdir(os.path.join(ROOT, "train")))
print("classes:", kinds)


def load_leaf(path):
    im = Image.open(path).resize((SIZE, SIZE))
    a = np.array(im)
    if a.ndim == 2:
        a = np.stack([a, a, a], axis=-1)
    a = a[:, :, :3].astype("float32") / 127.5 - 1
    return a.transpose(2, 0, 1)


def load_part(part):
    xs, ys = [], []
    for k, kind in enumerate(kinds):
        for p in sorted(glob.glob(os.path.join(ROOT, part, kind, "*.png"))):
            xs.append(load_leaf(p))
            ys.append(k)
    return torch.from_numpy(np.stack(xs)), torch.tensor(ys)


Xtr, ytr = load_part("train")
Xte, yte = load_part("test")
print("train", tuple(Xtr.shape), "test", tuple(Xte.shape), "range", Xtr.min().item(), Xtr.max().item())

net = nn.Sequential(
    nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Dropout(0.3), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, len(kinds)))
opt = torch.optim.AdamW(net.parameters(), lr=1.5e-3, weight_decay=1e-3)

for epoch in range(25):
    net.train()
    perm = torch.randperm(len(Xtr))
    losses = []
    for i in range(0, len(perm), 40):
        b = perm[i:i + 40]
        xb = Xtr[b]
        if random.random() < 0.5:
            xb = xb.flip(3)
        loss = F.cross_entropy(net(xb), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 5 == 4:
        net.eval()
        with torch.no_grad():
            acc = (net(Xte).argmax(1) == yte).float().mean().item()
        print(f"[{epoch + 1:2d}] loss {np.mean(losses):.3f}  test acc {acc:.3f}")

net.eval()
with torch.no_grad():
    pred = net(Xte).argmax(1)
for k, kind in enumerate(kinds):
    print(f"  {kind:10s} recall {(pred[yte == k] == k).float().mean().item():.3f}")
print("final test accuracy: %.3f" % (pred == yte).float().mean().item())
