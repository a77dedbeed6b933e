import torch
import torch.nn.functional as F
from torch import nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.05)
        nn.init.zeros_(m.bias)


torch.manual_seed(0)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 6))
net.apply(init_weights)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
