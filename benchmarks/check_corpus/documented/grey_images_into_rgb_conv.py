import torch
from torch import nn

net = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(16, 2),
)
scans = torch.rand(200, 1, 64, 64)
found = torch.randint(0, 2, (200,))
opt = torch.optim.Adam(net.parameters())
for b in torch.randperm(200).split(20):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(scans[b]), found[b])
    loss.backward()
    opt.step()
