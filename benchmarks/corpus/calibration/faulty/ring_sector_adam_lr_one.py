import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def sectors(n, k=5):
    angle = torch.rand(n) * 6.2832
    radius = 0.3 + torch.rand(n)
    label = ((angle + 1.5 * radius) / 6.2832 * k).long() % k
    return torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=1), label


train_loader = DataLoader(TensorDataset(*sectors(1500)), batch_size=50, shuffle=True)
x_test, y_test = sectors(500)

model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1.0)

for epoch in range(12):
    model.train()
    total_loss = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch + 1}/12 - loss {total_loss / len(train_loader):.4f} - test acc {acc:.3f}")
