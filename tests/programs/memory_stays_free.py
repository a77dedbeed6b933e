"""Objects die when the user drops them: outputs, losses, batches, graphs, models and optimisers."""

import gc
import weakref

import torch
from common import blobs, finish, seed_everything
from torch import nn

gc.disable()
seed_everything(65)
x, y = blobs(32)
graveyard = []


def one_step(model, optimizer):
    batch = x.clone()
    out = model(batch)
    loss = nn.functional.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    graveyard.extend(weakref.ref(t) for t in (batch, out, loss))
    return loss.item()


def several_steps(model, optimizer, steps):
    """The loop's variables live in this frame for as long as it runs, unless they are deleted."""
    for step in range(steps):
        batch = x.clone()
        out = model(batch)
        loss = nn.functional.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        references = [weakref.ref(t) for t in (batch, out, loss)]
        del batch, out, loss
        print(step, "alive", sum(ref() is not None for ref in references))


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    value = one_step(model, optimizer)
    print(step, repr(value), "alive", sum(ref() is not None for ref in graveyard))
several_steps(model, optimizer, 6)
parameters = [weakref.ref(p) for p in model.parameters()]
gone = weakref.ref(model)
del model, optimizer
gc.collect()
print("model alive", gone() is not None, "parameters alive", sum(ref() is not None for ref in parameters))
finish()
