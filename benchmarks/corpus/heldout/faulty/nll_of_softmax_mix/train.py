import os
import torch
from torch import nn
from model import StateClassifier

torch.manual_seed(int(os.environ.get("SEED", "0")))


def windows(n, T=12, states=24):
    y = torch.randint(0, states, (n,))
    centre = torch.stack([torch.cos(0.2618 * y), torch.sin(0.2618 * y), (y % 2).float() - 0.5], 1)
    return 1.6 * centre[:, None] + 0.5 * torch.randn(n, T, 3), y


x, y = windows(1600)
xv, yv = windows(400)
model = StateClassifier(3, 48, 24)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.NLLLoss()
for epoch in range(10):
    model.train()
    run = 0.0
    for b in torch.randperm(len(x)).split(40):
        optimizer.zero_grad()
        loss = criterion(model(x[b]), y[b])
        loss.backward()
        optimizer.step()
        run += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch} nll {run / 40:.4f} val acc {acc:.3f}")
