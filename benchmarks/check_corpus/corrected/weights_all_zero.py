import torch
from torch import nn


def reset(module):
    if isinstance(module, (nn.Linear, nn.Conv2d)):
        nn.init.kaiming_normal_(module.weight)
        nn.init.zeros_(module.bias)


net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 26 * 26, 50), nn.ReLU(), nn.Linear(50, 10))
net.apply(reset)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,))
opt.zero_grad()
nn.functional.cross_entropy(net(x), y).backward()
opt.step()
