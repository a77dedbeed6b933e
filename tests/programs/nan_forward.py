"""Non-finite in forward: the log of a probability that has become exactly zero."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(51)
x = torch.randn(64, 4) * 4
y = (x.sum(1, keepdim=True) > 0).float()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for step in range(12):
    if step == 6:
        x[5] *= 100  # an outlier arrives
    probability = torch.sigmoid(model(x))
    loss = -(y * torch.log(probability) + (1 - y) * torch.log(1 - probability)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), repr(torch.rand(1).item()))
finish(model, optimizer)
