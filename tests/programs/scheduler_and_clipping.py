"""StepLR per epoch, clipping by norm and by value."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything(34)
loader = DataLoader(TensorDataset(*blobs(80)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.3)
for epoch in range(6):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimizer.step()
        print(epoch, repr(loss.item()), repr(norm.item()))
    scheduler.step()
    print("lr", scheduler.get_last_lr())
finish(model, optimizer)
