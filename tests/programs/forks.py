"""os.fork in mid-training: parent and child both go on training; the child's end must not disturb the parent."""

import os

import torch
from common import blobs, finish, seed_everything
from torch import nn


def train(model, x, y, steps):
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p.sub_(p.grad, alpha=0.1)
    return repr(loss.item())


seed_everything(68)
torch.set_num_threads(1)
x, y = blobs(32)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
with torch.no_grad():
    print("start", repr(model(x).sum().item()), flush=True)
child = os.fork()
if child == 0:
    with torch.no_grad():
        print("child", repr(model(x * 2).sum().item()), flush=True)
    os._exit(7)
print("child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
print("parent", train(model, x, y, 10), flush=True)
child = os.fork()
if child == 0:
    print("child", repr(torch.rand(1).item()))
    raise SystemExit(9)
print("child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print("parent", train(model, x, y, 10))
finish(model)
