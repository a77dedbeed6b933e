import numpy as np
import torch
from torch import nn

rows = np.random.rand(200, 6)
target = np.random.rand(200, 1)
x = torch.from_numpy(rows)
y = torch.from_numpy(target)
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
