"""Fit the height of the water from the hour: one input, one output."""
import math
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

hours = torch.rand(1000, 1) * 2 - 1
height = torch.sin(math.pi * 2 * hours) + 0.3 * torch.cos(5 * hours) + 0.05 * torch.randn(1000, 1)
grid = torch.linspace(-1, 1, 200).unsqueeze(1)
truth = torch.sin(math.pi * 2 * grid) + 0.3 * torch.cos(5 * grid)


def build(width=40):
    return nn.Sequential(
        nn.Linear(1, width),
        nn.Tanh(),
        nn.Linear(width, width),
        nn.Tanh(),
        nn.Linear(width, 1),
        nn.Sigmoid(),
    )


def fit(model, epochs=3, batch_size=25, lr=0.003):
    data = DataLoader(TensorDataset(hours, height), batch_size=batch_size, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    criterion = nn.MSELoss()
    for epoch in range(1, epochs + 1):
        for x, y in data:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        if epoch % 10 == 0 or epoch == epochs:
            with torch.no_grad():
                error = criterion(model(grid), truth).item()
            print(f"epoch {epoch}: test error {error:.5f}")


model = build()
fit(model)
