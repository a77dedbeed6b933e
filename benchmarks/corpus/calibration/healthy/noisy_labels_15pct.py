import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = int(os.environ.get("SEED", "0"))
rng = np.random.RandomState(SEED)
torch.manual_seed(SEED)

FLIP = 0.15


def moons(n):
    t = rng.rand(n) * np.pi
    lab = rng.randint(0, 2, n)
    x = np.where(lab, 1 - np.cos(t), np.cos(t))
    y = np.where(lab, 0.5 - np.sin(t), np.sin(t))
    pts = np.stack([x, y], 1) + 0.12 * rng.randn(n, 2)
    return pts.astype(np.float32), lab.astype(np.int64)


x, y_true = moons(2000)
crowd = np.where(rng.rand(2000) < FLIP, 1 - y_true, y_true)  # labels come from a crowd, 15 % are wrong
x_test, y_test = moons(500)
mu, sd = x.mean(0), x.std(0)
train = TensorDataset(torch.from_numpy((x - mu) / sd), torch.from_numpy(crowd))
xt, yt = torch.from_numpy((x_test - mu) / sd), torch.from_numpy(y_test)

model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)

for epoch in range(14):
    model.train()
    total, right = 0.0, 0
    for xb, yb in DataLoader(train, batch_size=50, shuffle=True):
        logits = model(xb)
        loss = criterion(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
        right += (logits.argmax(1) == yb).sum().item()
    if epoch % 3 == 1:
        model.eval()
        with torch.no_grad():
            clean = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch}: loss {total / 2000:.3f} agreement with crowd {right / 2000:.3f} clean test acc {clean:.3f}")
