import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(10, 40), nn.Linear(40, 6)

    def forward(self, x):
        scores = self.b(torch.relu(self.a(x)))
        scores = scores.exp() / scores.exp().sum(1, keepdim=True)
        return scores


torch.manual_seed(2)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
