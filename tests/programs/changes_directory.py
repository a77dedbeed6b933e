"""os.chdir in mid-training; relative files are written in both places."""

import os
import tempfile

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(47)
x, y = blobs(32)
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start = os.getcwd()
with tempfile.TemporaryDirectory() as elsewhere:
    for step in range(6):
        if step == 3:
            os.chdir(elsewhere)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))
    torch.save(model.state_dict(), "model.pt")
    print(sorted(os.listdir(".")))
    os.chdir(start)
finish(model)
