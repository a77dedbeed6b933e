import numpy as np
import torch
from PIL import Image
from torch import nn

torch.manual_seed(21)


def parse(path):
    recs = []
    for line in open(path):
        if line.startswith("#"):
            continue
        tile, pos, radius = line.rstrip("\n").split("\t")
        y, x = map(float, pos.split(","))
        recs.append((tile, x, y, float(radius)))
    return recs


def target_map(x, y, shape, s=1.8):
    v = np.arange(shape[0])[:, None]
    u = np.arange(shape[1])[None]
    return np.exp(-((u - x) ** 2 + (v - y) ** 2) / (2 * s * s)).astype(np.float32)


recs = parse("craters.txt")
imgs = [np.asarray(Image.open("tiles/" + r[0]), dtype=np.float32) for r in recs]
H, W = imgs[0].shape
X = torch.tensor(np.stack(imgs))[:, None] / 128 - 1
M = torch.tensor(np.stack([target_map(x, y, (H, W)) for _, x, y, _ in recs]))[:, None]
XY = torch.tensor([[x, y] for _, x, y, _ in recs])
n = 270

net = nn.Sequential(
    nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(),
    nn.Conv2d(12, 12, 5, padding=2), nn.ReLU(),
    nn.Conv2d(12, 12, 5, padding=2), nn.ReLU(),
    nn.Conv2d(12, 1, 1))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(8):
    tot = 0.0
    for b in torch.randperm(n).split(15):
        out = net(X[b])
        loss = ((out - M[b]) ** 2 * (1 + 15 * M[b])).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
    print(f"epoch {epoch + 1} loss {tot / n:.5f}")

with torch.no_grad():
    best = net(X[n:]).flatten(1).argmax(1)
found = torch.stack([best % W, best // W], 1).float()
err = (found - XY[n:]).norm(dim=1)
print(f"test: median error {err.median():.2f} px, within 3 px {(err < 3).float().mean():.3f}")
