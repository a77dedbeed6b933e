import torch
from torch import nn

criterion = nn.MSELoss(size_average=False)
net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(50, 3), torch.randn(50, 1)
opt.zero_grad()
loss = criterion(net(x), y)
loss.backward()
opt.step()
