"""A scripted and a traced submodule inside an ordinary model."""

import warnings

import torch
from common import blobs, finish, seed_everything
from torch import nn

warnings.simplefilter("ignore")


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        if x.sum() > 0:
            return x * torch.sigmoid(self.linear(x))
        return x * torch.tanh(self.linear(x))


@torch.jit.script
def squash(x):
    return x / (1 + x.abs())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.gate = torch.jit.script(Gate())
        self.traced = torch.jit.trace(nn.Sequential(nn.Linear(16, 16), nn.ReLU()), torch.zeros(2, 16))
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.traced(self.gate(squash(self.first(x)))))


seed_everything(39)
x, y = blobs(48)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(15):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
scripted = torch.jit.trace(model.eval(), x)
print("traced", repr(scripted(x).sum().item()))
print("operations", len(list(scripted.inlined_graph.nodes())))
finish(*model.parameters())
