import copy

import torch
from torch import nn


def make():
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))


teacher = make()
student = make()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
kl = nn.KLDivLoss(reduction="batchmean")
x = torch.randn(1000, 8)
for epoch in range(10):
    for b in torch.randperm(1000).split(100):
        with torch.no_grad():
            target = teacher(x[b]).softmax(1)
        optimizer.zero_grad()
        loss = kl(student(x[b]).log_softmax(1), target)
        loss.backward()
        optimizer.step()
best = copy.deepcopy(student)
