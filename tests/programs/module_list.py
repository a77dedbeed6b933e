"""ModuleList and ModuleDict; some members are never called."""

import torch
from common import blobs, finish, seed_everything
from torch import nn


class Stack(nn.Module):
    def __init__(self, sizes, classes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])
        self.activations = nn.ModuleDict({"relu": nn.ReLU(), "swish": nn.SiLU()})
        self.unused = nn.Linear(3, 3)
        self.scale = nn.ParameterList([nn.Parameter(torch.ones(())) for _ in sizes[1:]])
        self.head = nn.Linear(sizes[-1], classes)

    def forward(self, x):
        for layer, scale in zip(self.layers, self.scale):
            x = self.activations["swish"](layer(x)) * scale
        return self.head(x)


seed_everything(15)
x, y = blobs(64)
model = Stack([8, 16, 16, 16], 3)
optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(20):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    print(epoch, repr(loss.item()))
finish(model, optimizer)
