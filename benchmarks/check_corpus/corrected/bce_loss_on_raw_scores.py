import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(400, 6)
y = (x.sum(1, keepdim=True) > 0).float()
for epoch in range(20):
    for idx in torch.randperm(400).split(40):
        optimizer.zero_grad()
        loss = loss_fn(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
