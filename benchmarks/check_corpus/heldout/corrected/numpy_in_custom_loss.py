import numpy as np
import torch
from torch import nn


def correlation_loss(prediction, target):
    p, t = prediction - prediction.mean(), target - target.mean()
    return 1 - (p * t).sum() / (p.norm() * t.norm() + 1e-8)


model = nn.Sequential(nn.Linear(7, 14), nn.Tanh(), nn.Linear(14, 1), nn.Flatten(0))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(500, 7)
y = np.sin(x[:, 0].numpy())
y = torch.from_numpy(y)
for step in range(100):
    opt.zero_grad()
    loss = correlation_loss(model(x), y)
    loss.backward()
    opt.step()
