"""Everything is set up, and then the training set turns out to be empty."""

import torch
from common import finish, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything(56)
loader = DataLoader(TensorDataset(torch.zeros(0, 4), torch.zeros(0, dtype=torch.long)), batch_size=4)
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    print("epoch", epoch, "done")
finish(model)
