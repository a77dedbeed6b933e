"""Height of a wavy surface from where one stands."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

position = torch.rand(900, 3) * 2 - 1
height = torch.sin(3 * position[:, :1]) * torch.cos(2 * position[:, 1:2]) + 0.5 * position[:, 2:]
train = DataLoader(TensorDataset(position, height), batch_size=30, shuffle=True)

model = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

for epoch in range(2):
    total = 0.0
    for place, level in train:
        optimizer.zero_grad()
        loss = criterion(model(place), level)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} loss {total / len(train):.4f}")
