"""torch.compile of a whole loss function, and Module.compile() in place."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(10)
x, y = blobs(64)
encoder = nn.Sequential(nn.Linear(8, 16), nn.SiLU())
encoder.compile(backend="aot_eager")
head = nn.Linear(16, 3)


@torch.compile(backend="eager")
def objective(inputs, labels):
    return nn.functional.cross_entropy(head(encoder(inputs)), labels)


optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for step in range(8):
    loss = objective(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
with torch.no_grad():
    print("alone", repr(encoder(x).sum().item()))
print("breaks", sum(torch._dynamo.utils.counters["graph_break"].values()))
print("graphs", torch._dynamo.utils.counters["stats"]["unique_graphs"])
finish(encoder, head, optimizer)
