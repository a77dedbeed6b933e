import os

import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
np.random.seed(seed)
torch.manual_seed(seed)


def standardise(features):
    """z-score each column"""
    arr = features.detach().numpy()
    arr = (arr - arr.mean(axis=0)) / (arr.std(axis=0) + 1e-6)
    return torch.from_numpy(arr)


class Scorer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(d, 48), nn.Tanh(), nn.Linear(48, 6))
        self.score = nn.Linear(6, 1)

    def forward(self, x):
        z = self.embed(x)
        z = standardise(z)
        return self.score(z).view(-1)


x = torch.randn(1500, 8)
y = (x[:, 0] * x[:, 1] > 0).float() * 2 - 1 + 0.5 * torch.sin(2 * x[:, 2])
y = y + 0.05 * torch.randn(len(y))
train, test = slice(0, 1200), slice(1200, None)

model = Scorer(8)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
mse = nn.MSELoss()
for epoch in range(1, 26):
    model.train()
    for idx in torch.randperm(1200).split(60):
        loss = mse(model(x[train][idx]), y[train][idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        model.eval()
        with torch.no_grad():
            print("epoch", epoch, "test mse", round(mse(model(x[test]), y[test]).item(), 4))
