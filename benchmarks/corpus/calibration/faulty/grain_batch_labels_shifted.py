import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
proto = torch.randn(5, 14)


def grain(n):
    y = torch.randint(0, 5, (n,))
    return proto[y] + 0.7 * torch.randn(n, 14), y


def batches(x, y, size):
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    for i in range(0, len(x) - size, size):
        yield x[i : i + size], y[i + 1 : i + size + 1]


x, y = grain(1250)
xv, yv = grain(400)
model = nn.Sequential(nn.Linear(14, 48), nn.ReLU(), nn.Linear(48, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(10):
    model.train()
    losses = []
    for xb, yb in batches(x, y, 25):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f} val acc {acc:.3f}")
