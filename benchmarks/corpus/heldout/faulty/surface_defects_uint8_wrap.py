# Detects scratches on grey metal plates (small CNN).
import os

import numpy as np
import torch
import torch.nn as nn

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
gen = np.random.RandomState(SEED)
SIZE = 14


def plate(has_scratch):
    img = gen.normal(120, 6, (SIZE, SIZE))
    if has_scratch:
        r = gen.randint(2, SIZE - 2)
        c0 = gen.randint(0, 5)
        img[r, c0:c0 + 9] += 14
    else:
        rr, cc = gen.randint(0, SIZE, 9), gen.randint(0, SIZE, 9)
        img[rr, cc] += 14
    return np.clip(img, 0, 255).astype(np.uint8)


def build(n):
    labels = gen.randint(0, 2, n)
    imgs = np.stack([plate(l) for l in labels])
    return imgs, labels


train_img, train_lab = build(1200)
val_img, val_lab = build(400)
mean = np.uint8(train_img.mean())


def preprocess(imgs):
    centred = imgs - mean
    return torch.from_numpy(centred).float().unsqueeze(1) / 10.0


xtr, ytr = preprocess(train_img), torch.from_numpy(train_lab)
xva, yva = preprocess(val_img), torch.from_numpy(val_lab)

net = nn.Sequential(
    nn.Conv2d(1, 8, (1, 7), padding=(0, 3)), nn.ReLU(),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
    nn.AdaptiveMaxPool2d(1), nn.Flatten(),
    nn.Linear(16, 2))
optim = torch.optim.Adam(net.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()

for ep in range(12):
    order = torch.randperm(len(xtr))
    s = 0.0
    for i in range(0, len(order), 50):
        b = order[i:i + 50]
        optim.zero_grad()
        loss = ce(net(xtr[b]), ytr[b])
        loss.backward()
        optim.step()
        s += loss.item() * len(b)
    net.eval()
    with torch.no_grad():
        acc = (net(xva).argmax(1) == yva).float().mean().item()
    net.train()
    print("ep", ep, "loss %.4f" % (s / len(xtr)), "val acc %.3f" % acc)
