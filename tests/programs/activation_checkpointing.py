"""torch.utils.checkpoint, reentrant and not: parts of forward run again during backward, with dropout."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(8, 16)
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Dropout(0.2)) for _ in range(4)]
        )
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        x = self.inp(x)
        for i, block in enumerate(self.blocks):
            x = x + checkpoint(block, x, use_reentrant=bool(i % 2))
        return self.out(x)


seed_everything(40)
x, y = blobs(48)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(15):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
finish(model, optimizer)
