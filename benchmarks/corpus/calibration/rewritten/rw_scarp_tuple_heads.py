import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = tuple(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.out = nn.Linear(sizes[-1], 6)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


torch.manual_seed(3)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = Net([10, 40, 20])
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
