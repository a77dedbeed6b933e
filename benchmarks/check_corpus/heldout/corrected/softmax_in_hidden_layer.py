import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(30, 60)
        self.fc2 = nn.Linear(60, 60)
        self.fc3 = nn.Linear(60, 5)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


net = Net()
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(100, 30), torch.randint(0, 5, (100,))
opt.zero_grad()
F.cross_entropy(net(x), y).backward()
opt.step()
