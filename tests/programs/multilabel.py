"""Multi-label classification with BCEWithLogitsLoss and pos_weight."""

import torch
from common import finish, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything(25)
x = torch.randn(80, 10)
y = (x[:, :5] + 0.3 * torch.randn(80, 5) > 0.4).float()
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(10, 20), nn.PReLU(), nn.Linear(20, 5))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.full((5,), 2.0))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for inputs, targets in loader:
        optimizer.zero_grad()
        logits = model(inputs)
        loss = criterion(logits, targets)
        loss.backward()
        optimizer.step()
        print(epoch, repr(loss.item()), repr(((logits > 0) == targets.bool()).float().mean().item()))
finish(model, optimizer)
