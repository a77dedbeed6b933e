"""Regression with the loss written as an expression."""

import numpy as np
import torch
from common import finish, seed_everything
from torch import nn

seed_everything(24)
X = np.random.uniform(-3, 3, size=(90, 1)).astype(np.float32)
Y = (X**2 + np.random.normal(0, 0.1, size=X.shape)).astype(np.float32)
net = nn.Sequential(nn.Linear(1, 20), nn.Sigmoid(), nn.Linear(20, 1))
optim = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(6):
    order = np.random.permutation(len(X))
    for i in range(0, len(X), 15):
        x = torch.from_numpy(X[order[i : i + 15]])
        y = torch.from_numpy(Y[order[i : i + 15]])
        out = net(x)
        loss = ((out - y) ** 2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        print(epoch, repr(loss.item()))
finish(net, optim)
