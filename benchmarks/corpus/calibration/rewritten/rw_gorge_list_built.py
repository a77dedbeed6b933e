import torch
import torch.nn.functional as F
from torch import nn


def build(inputs, hidden, depth, outputs):
    layers, width = [], inputs
    for _ in range(depth):
        layers.append(nn.Linear(width, hidden))
        width = hidden
    layers.append(nn.Linear(width, outputs))
    return nn.Sequential(*layers)


torch.manual_seed(3)
x = torch.randn(900, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
net = build(2, 32, 2, 2)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(700).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[700:]).argmax(1) == y[700:]).float().mean().item())
