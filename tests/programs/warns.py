"""Warnings of the user, of torch and of the standard library, on stderr with the user's lines."""

import logging
import sys
import warnings

import torch
from common import blobs, finish, seed_everything
from torch import nn


def helper():
    warnings.warn("look at the caller", stacklevel=2)


seed_everything(50)
logging.basicConfig(level=logging.INFO)
logging.info("logging is the user's own")
warnings.warn("plain")
helper()
x, y = blobs(32)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scheduler.step()  # before optimizer.step(): torch warns
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y.float())  # shapes broadcast: torch warns
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(step, repr(loss.item()))
warnings.warn("old", DeprecationWarning)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nn.functional.softmax(model(x))
    print([str(w.message) for w in caught])
print(len(logging.root.handlers), logging.root.level, sorted(set(f[0] for f in warnings.filters)))
sys.stderr.write("last words\n")
finish(model)
