"""torch.compile of a model (backends eager and aot_eager by argument), with evaluation in between."""

import sys

import torch
from common import blobs, finish, seed_everything
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 3)
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x):
        return self.second(torch.relu(self.norm(self.first(x))))


backend = sys.argv[1] if len(sys.argv) > 1 else "aot_eager"
seed_everything(9)
x, y = blobs(64)
model = Net()
compiled = torch.compile(model, backend=backend)
optimizer = torch.optim.Adam(compiled.parameters(), lr=1e-2)
for step in range(10):
    compiled.train()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(compiled(x), y)
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
    if step % 5 == 4:
        compiled.eval()
        with torch.no_grad():
            print("eval", repr(compiled(x).sum().item()))
# how often it was compiled must not depend on being watched either
print("graphs", torch._dynamo.utils.counters["stats"]["unique_graphs"])
print("breaks", sum(torch._dynamo.utils.counters["graph_break"].values()))
finish(model, optimizer)
