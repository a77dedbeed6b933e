from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    epochs: int = 3
    lr: float = 1e-3


def fit(model, x, y, config):
    opt = torch.optim.Adam(model.parameters(), lr=config.lr)
    for epoch in range(1, config.epochs + 1):
        for rows in torch.randperm(640).split(32):
            opt.zero_grad()
            loss = F.mse_loss(model(x[rows]), y[rows])
            loss.backward()
            opt.step()
        with torch.no_grad():
            print(epoch, "val mse", F.mse_loss(model(x[640:]), y[640:]).item())


torch.manual_seed(1)
x = torch.randn(800, 6)
y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]
model = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
fit(model, x, y, Config())
