"""The model changes while training: parts unfrozen, a layer added, a new optimiser made."""

import torch
from common import blobs, finish, seed_everything
from torch import nn


def train(model, optimizer, x, y, steps):
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))


seed_everything(21)
x, y = blobs(64)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
for p in model[0].parameters():
    p.requires_grad = False
model.add_module("head", nn.Linear(16, 3))
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05)
train(model, optimizer, x, y, 8)

print("unfreeze")
for p in model[0].parameters():
    p.requires_grad = True
optimizer.add_param_group({"params": model[0].parameters(), "lr": 0.01})
train(model, optimizer, x, y, 8)

print("grow")
model = nn.Sequential(model[0], nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), *list(model)[2:])
model[2].weight.data.copy_(torch.eye(16))
del optimizer
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
train(model, optimizer, x, y, 8)

print("replace the head")
model[-1] = nn.Linear(16, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
train(model, optimizer, x, y, 8)
finish(model, optimizer)
