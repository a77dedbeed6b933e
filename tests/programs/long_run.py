"""Steps of about a millisecond for as long as asked; says when it has begun."""

import sys
import time

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(57)
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
x, y = blobs(64)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    time.sleep(0.0005)
    if step == 10:
        print("running", flush=True)
print(repr(loss.item()))
finish(model, optimizer)
