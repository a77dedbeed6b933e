import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=3.0)
x = torch.randn(100, 4)
for _ in range(100):
    opt.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    opt.step()
