"""A huge learning rate drives the weights to infinity while evaluation and BatchNorm go on."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(53)
x = torch.randn(64, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Dropout(0.1), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e3, momentum=0.9)
for step in range(20):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        print(step, repr(loss.item()), repr(model(x).abs().max().item()))
finish(model, optimizer)
