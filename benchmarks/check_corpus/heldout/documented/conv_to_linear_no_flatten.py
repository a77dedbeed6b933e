import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(8 * 13 * 13, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv(x)))
        return self.fc(x)


net = Tiny()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
images, labels = torch.rand(512, 1, 28, 28), torch.randint(0, 10, (512,))
for b in torch.randperm(512).split(64):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(images[b]), labels[b])
    loss.backward()
    opt.step()
