"""Lazy modules, weight and spectral norm as parametrisations, pruning masks."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.nn.utils import parametrizations, prune

seed_everything(60)
x, y = blobs(48)
model = nn.Sequential(
    nn.LazyLinear(16),
    nn.LazyBatchNorm1d(),
    nn.ReLU(),
    parametrizations.weight_norm(nn.Linear(16, 16)),
    nn.Tanh(),
    parametrizations.spectral_norm(nn.Linear(16, 16)),
    nn.Linear(16, 3),
)
prune.random_unstructured(model[-1], "weight", 0.3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(12):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
finish(model, optimizer)
