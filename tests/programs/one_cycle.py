"""OneCycleLR stepped after every batch, then cosine warm restarts chained after a linear warm-up."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.optim import lr_scheduler

seed_everything(35)
x, y = blobs(64)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def run(optimizer, scheduler, steps):
    for step in range(steps):
        batch = torch.randint(64, (16,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(step, repr(loss.item()), repr(optimizer.param_groups[0]["lr"]))


run(optimizer, lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=24), 24)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
warmup = lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4)
cosine = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 5)
run(optimizer, lr_scheduler.SequentialLR(optimizer, [warmup, cosine], [4]), 16)
finish(model, optimizer)
