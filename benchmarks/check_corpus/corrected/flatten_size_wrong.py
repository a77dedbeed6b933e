import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc = nn.Linear(16 * 5 * 5, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
images, labels = torch.rand(128, 3, 32, 32), torch.randint(0, 10, (128,))
opt.zero_grad()
F.cross_entropy(net(images), labels).backward()
opt.step()
