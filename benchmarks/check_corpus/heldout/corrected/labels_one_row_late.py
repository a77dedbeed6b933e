import torch
from torch import nn

X, Y = torch.randn(1000, 9), torch.randint(0, 3, (1000,))
net = nn.Sequential(nn.Linear(9, 40), nn.ReLU(), nn.Linear(40, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
size = 50
for epoch in range(20):
    order = torch.randperm(1000)
    X, Y = X[order], Y[order]
    for i in range(0, 1000, size):
        xb = X[i : i + size]
        yb = Y[i : i + size]
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
