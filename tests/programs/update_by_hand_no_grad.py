"""No optimiser: parameters are updated inside torch.no_grad()."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(17)
x = torch.randn(64, 5)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0]) + 0.1 * torch.randn(64)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
lr = 0.05
for step in range(40):
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= lr * p.grad
    print(step, repr(loss.item()))
finish(model)
