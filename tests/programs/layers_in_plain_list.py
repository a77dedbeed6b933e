"""The mistake: hidden layers in a plain Python list are not registered and never trained."""

import torch
from common import blobs, finish, seed_everything
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(8, 16), nn.Linear(16, 16)]
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x).relu()
        return self.out(x)


seed_everything(16)
x, y = blobs(64)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(25):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
finish(net, *net.hidden)
