import torch
from torch import nn

net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    x, y = torch.randn(8, 6), torch.randint(0, 2, (8,))
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
