import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 40)
        self.out = nn.Linear(40, 6)

    def forward(self, x):
        x = F.relu(self.fc(x))
        x = torch.sigmoid(self.out(x))
        return x


def categorical(p, hot):
    p = p / p.sum(dim=1, keepdim=True)
    return -(hot * torch.log(p.clamp(1e-7, 1 - 1e-7))).sum(1).mean()


torch.manual_seed(1)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
hot = F.one_hot(y, 6).float()
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = categorical(net(x[rows]), hot[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
