import torch
import torch.nn.functional as F
from torch import nn


def block(width):
    return nn.Sequential(nn.Linear(width, width), nn.Tanh())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(10, 40)
        self.blocks = [
            block(40)
            for _ in range(3)
        ]
        self.out = nn.Linear(40, 6)

    def forward(self, x):
        x = self.inp(x)
        for b in self.blocks:
            x = b(x)
        return self.out(x)


torch.manual_seed(1)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
