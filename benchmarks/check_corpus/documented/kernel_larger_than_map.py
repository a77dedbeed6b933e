import torch
from torch import nn

net = nn.Sequential(
    nn.Conv2d(1, 16, kernel_size=5),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, kernel_size=5),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(32, 64, kernel_size=5),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
opt = torch.optim.Adam(net.parameters())
x, y = torch.rand(600, 1, 28, 28), torch.randint(0, 10, (600,))
for idx in torch.randperm(600).split(60):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
    loss.backward()
    opt.step()
