import math
import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def spirals(n_per_arm, arms=3, noise=0.12):
    pts, lab = [], []
    for k in range(arms):
        r = torch.linspace(0.05, 1.0, n_per_arm)
        theta = r * 4.0 + 2 * math.pi * k / arms + noise * torch.randn(n_per_arm)
        pts.append(torch.stack([r * torch.cos(theta), r * torch.sin(theta)], dim=1))
        lab.append(torch.full((n_per_arm,), k))
    return torch.cat(pts) * 2, torch.cat(lab)


x_train, y_train = spirals(300)
x_test, y_test = spirals(100)

model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()

batch_size = 60
for epoch in range(40):
    model.train()
    order = torch.randperm(len(x_train))
    running = 0.0
    for i in range(0, len(order), batch_size):
        idx = order[i : i + batch_size]
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    if epoch % 5 == 0 or epoch == 39:
        print(f"epoch {epoch:3d}  loss {running / len(order):.4f}")

model.eval()
with torch.no_grad():
    acc = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"test accuracy {acc:.3f}")
