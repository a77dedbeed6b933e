import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, 2)
        self.act = nn.Identity()

    def forward(self, x):
        x = self.act(self.a(x))
        x = self.act(self.b(x))
        return self.c(x)


torch.manual_seed(0)
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
