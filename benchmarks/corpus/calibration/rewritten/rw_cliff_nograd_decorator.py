import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(10, 40), nn.Linear(40, 6)

    @torch.no_grad()
    def features(self, x):
        return torch.relu(self.a(x))

    def forward(self, x):
        return self.b(self.features(x))


torch.manual_seed(2)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(10):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    acc = (net(x[640:]).argmax(1) == y[640:]).float().mean().item()
    print(epoch, "val acc", acc)
