import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
np.random.seed(seed)


def two_moons(n, noise=0.15):
    t = np.pi * np.random.rand(n)
    lab = np.random.randint(0, 2, n)
    x = np.where(lab == 0, np.cos(t), 1 - np.cos(t))
    y = np.where(lab == 0, np.sin(t), 0.5 - np.sin(t))
    pts = np.stack([x, y], 1) + noise * np.random.randn(n, 2)
    extra = np.random.randn(n, 6)
    return torch.tensor(np.hstack([pts * 1.5, extra]), dtype=torch.float32), torch.tensor(lab, dtype=torch.float32)


MICRO = 2
ACCUM_STEPS = 16

train_loader = DataLoader(TensorDataset(*two_moons(1920)), batch_size=MICRO, shuffle=True)
x_test, y_test = two_moons(800)

net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.4, momentum=0.9)

for epoch in range(5):
    net.train()
    total = 0.0
    for i, (xb, yb) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = loss_fn(net(xb).squeeze(1), yb) / ACCUM_STEPS
        loss.backward()
        if (i + 1) % ACCUM_STEPS == 0:
            optimizer.step()
        total += loss.item() * ACCUM_STEPS
    net.eval()
    with torch.no_grad():
        out = net(x_test).squeeze(1)
        acc = ((out > 0).float() == y_test).float().mean().item()
        tl = loss_fn(out, y_test).item()
    print(f"epoch {epoch}: train loss {total / len(train_loader):.4f}, test loss {tl:.4f}, test acc {acc:.3f}")
