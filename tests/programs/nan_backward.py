"""Non-finite only in backward: the square root of a distance that is exactly zero."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(52)
x = torch.randn(32, 4)
model = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.2), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(10):
    if step == 5:
        x[3] = 0
        x[4] = 0
        model[1].p = 0.0
    out = model(x)
    distance = torch.sqrt(((out[:-1] - out[1:]) ** 2).sum(1))
    loss = (distance - 1).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), repr(torch.rand(1).item()))
finish(model, optimizer)
