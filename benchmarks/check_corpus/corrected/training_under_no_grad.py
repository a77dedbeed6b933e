import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(200, 4), torch.randint(0, 2, (200,))
for epoch in range(5):
    for idx in torch.randperm(200).split(20):
        opt.zero_grad()
        out = net(x[idx])
        loss = nn.functional.cross_entropy(out, y[idx])
        loss.backward()
        opt.step()
