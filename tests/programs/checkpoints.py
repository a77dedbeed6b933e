"""Saves and loads the whole model, state_dict and optimiser in mid-training; prints hashes of the bytes."""

import hashlib
import io
import pickle

import torch
from common import blobs, finish, seed_everything
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.body(x))


def saved(thing):
    stream = io.BytesIO()
    torch.save(thing, stream)
    data = stream.getvalue()
    print("bytes", len(data), hashlib.sha256(data).hexdigest(), b"netmend" in data)
    return io.BytesIO(data)


def train(model, optimizer, scheduler, steps):
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(step, repr(loss.item()), scheduler.get_last_lr())


seed_everything(33)
x, y = blobs(64)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
train(model, optimizer, scheduler, 6)

whole = torch.load(saved(model), weights_only=False)
saved(optimizer)
parts = torch.load(
    saved(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
        }
    )
)
pickled = pickle.dumps((model, optimizer))
print("pickle", len(pickled), b"netmend" in pickled)
saved(optimizer.state)
saved(nn.functional.cross_entropy(model(x), y).detach())

train(whole, torch.optim.SGD(whole.parameters(), lr=0.1), scheduler, 3)
model = Net()
model.load_state_dict(parts["model"])
optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
optimizer.load_state_dict(parts["optimizer"])
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
scheduler.load_state_dict(parts["scheduler"])
train(model, optimizer, scheduler, 6)
model, optimizer = pickle.loads(pickled)
train(model, optimizer, scheduler, 3)
saved(model)
finish(model, whole, optimizer)
