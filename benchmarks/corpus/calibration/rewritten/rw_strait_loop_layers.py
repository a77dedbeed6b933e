import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, sizes=(2, 32, 32)):
        super().__init__()
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(sizes[-1], 2)

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)


torch.manual_seed(2)
x = torch.randn(900, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(700).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[700:]).argmax(1) == y[700:]).float().mean().item())
