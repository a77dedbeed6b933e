"""One optimiser per parameter, stepped by a hook during backward; foreach and fused optimisers after it."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(62)
x, y = blobs(48)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizers = {p: torch.optim.Adam([p], lr=1e-2) for p in model.parameters()}


def step_now(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


handles = [p.register_post_accumulate_grad_hook(step_now) for p in model.parameters()]
for step in range(8):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    print(step, repr(loss.item()), [p.grad for p in model.parameters()])
for handle in handles:
    handle.remove()

for settings in ({"foreach": True}, {"fused": True}, {"amsgrad": True, "maximize": False}):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **settings)
    for step in range(4):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(settings, step, repr(loss.item()))
finish(model)
