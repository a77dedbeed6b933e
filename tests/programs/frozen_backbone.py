"""Fine-tuning: the backbone is frozen and in eval mode, only the head learns."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(20)
x, y = blobs(64)
backbone = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU())
for p in backbone.parameters():
    p.requires_grad_(False)
model = nn.Sequential(backbone, nn.Linear(16, 3))
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
for step in range(20):
    model.train()
    backbone.eval()
    with torch.no_grad():
        features = backbone(x)
    loss = nn.functional.cross_entropy(model[1](features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), repr(nn.functional.cross_entropy(model(x), y).item()))
finish(model, optimizer)
