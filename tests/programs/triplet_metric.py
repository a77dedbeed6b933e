"""Metric learning: one network called three times per step, TripletMarginLoss."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(31)
x, y = blobs(90)
groups = [x[y == k] for k in range(3)]
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
criterion = nn.TripletMarginLoss(margin=1.0)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)


def pick(group):
    return group[torch.randint(len(group), (16,))]


for step in range(25):
    a, b = torch.randperm(3)[:2].tolist()
    anchor, positive, negative = net(pick(groups[a])), net(pick(groups[a])), net(pick(groups[b]))
    loss = criterion(*(nn.functional.normalize(t, dim=1) for t in (anchor, positive, negative)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
finish(net, optimizer)
