"""Gradient accumulation: four backward passes for one optimiser step, last batch incomplete."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything(6)
ACCUMULATE = 4
loader = DataLoader(TensorDataset(*blobs(100)), batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1, nesterov=True, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(4):
    opt.zero_grad()
    for i, (x, y) in enumerate(loader):
        loss = loss_fn(net(x), y) / ACCUMULATE
        loss.backward()
        print(epoch, i, repr(loss.item()))
        if (i + 1) % ACCUMULATE == 0 or i + 1 == len(loader):
            opt.step()
            opt.zero_grad()
finish(net, opt)
