"""Double precision by default, deterministic algorithms, detected anomalies, a user's own function mode."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.overrides import TorchFunctionMode

seed_everything(64)
torch.set_default_dtype(torch.float64)
torch.use_deterministic_algorithms(True)
torch.autograd.set_detect_anomaly(True)
x, y = blobs(48)


class Counting(TorchFunctionMode):
    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        Counting.calls += 1
        return function(*args, **(kwargs or {}))


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with Counting():
    for step in range(6):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()), Counting.calls)
finish(model)
