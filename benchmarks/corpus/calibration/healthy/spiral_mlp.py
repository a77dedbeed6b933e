import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
np.random.seed(seed)


def make_spirals(n_per_class, n_classes=3, noise=0.22):
    xs, ys = [], []
    for c in range(n_classes):
        r = np.linspace(0.1, 1.0, n_per_class)
        t = np.linspace(c * 2.1, c * 2.1 + 4.0, n_per_class) + np.random.randn(n_per_class) * noise
        xs.append(np.stack([r * np.sin(t), r * np.cos(t)], axis=1))
        ys.append(np.full(n_per_class, c))
    x = np.concatenate(xs).astype(np.float32)
    y = np.concatenate(ys).astype(np.int64)
    return torch.from_numpy(x), torch.from_numpy(y)


X, y = make_spirals(400)
perm = torch.randperm(len(X))
X, y = X[perm], y[perm]
train_ds = TensorDataset(X[:960], y[:960])
test_X, test_y = X[960:], y[960:]
mean, std = X[:960].mean(0), X[:960].std(0)
loader = DataLoader(train_ds, batch_size=32, shuffle=True)

model = nn.Sequential(
    nn.Linear(2, 64),
    nn.ReLU(),
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Linear(64, 3),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(20):
    model.train()
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model((xb - mean) / std), yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        acc = (model((test_X - mean) / std).argmax(1) == test_y).float().mean().item()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d}  loss {running / len(train_ds):.4f}  test acc {acc:.3f}")
