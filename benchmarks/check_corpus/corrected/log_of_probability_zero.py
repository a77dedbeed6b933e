import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(400, 8) * 20
y = nn.functional.one_hot(torch.randint(0, 4, (400,)), 4).float()
for b in torch.randperm(400).split(40):
    opt.zero_grad()
    loss = -(y[b] * torch.log_softmax(net(x[b]), dim=1)).sum(1).mean()
    loss.backward()
    opt.step()
