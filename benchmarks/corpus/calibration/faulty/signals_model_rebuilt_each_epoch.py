import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def make_model():
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))


def signals(n, proto):
    y = torch.randint(0, 8, (n,))
    flip = torch.randint(0, 2, (n, 1)) * 2 - 1
    return proto[y] * flip + 0.5 * torch.randn(n, 20), y


def train_epoch(model, optimizer, loader, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


proto = torch.randn(8, 20)
loader = DataLoader(TensorDataset(*signals(800, proto)), batch_size=40, shuffle=True)
x_test, y_test = signals(400, proto)
criterion = nn.CrossEntropyLoss()

for epoch in range(12):
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    train_loss = train_epoch(model, optimizer, loader, criterion)
    model.eval()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch + 1} train loss {train_loss:.3f} test acc {acc:.3f}")
