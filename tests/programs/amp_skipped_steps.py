"""A GradScaler that starts far too high: the first steps overflow and are skipped."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(8)
x, y = blobs(64)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, backoff_factor=2.0**-20, growth_interval=1000)
for step in range(12):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    before = [p.detach().clone() for p in model.parameters()]
    scaler.step(optimizer)
    scaler.update()
    moved = any(not torch.equal(b, p) for b, p in zip(before, model.parameters()))
    print(step, repr(loss.item()), "moved" if moved else "skipped", scaler.get_scale())
finish(model, optimizer)
