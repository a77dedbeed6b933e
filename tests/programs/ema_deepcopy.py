"""deepcopy of model and optimiser in mid-training; averaged weights evaluated beside the live ones."""

import copy

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.optim.swa_utils import AveragedModel

seed_everything(32)
x, y = blobs(64)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
ema = copy.deepcopy(model)
averaged = AveragedModel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
best, best_loss = None, float("inf")
for step in range(20):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(ema.parameters(), model.parameters()):
            slow.lerp_(fast, 0.1)
    averaged.update_parameters(model)
    if loss.item() < best_loss:
        best, best_loss = copy.deepcopy(model), loss.item()
    if step == 10:
        model, optimizer = copy.deepcopy((model, optimizer))
    ema.eval()
    print(step, repr(loss.item()), repr(nn.functional.cross_entropy(ema(x), y).item()))
finish(model, ema, averaged, best, optimizer)
