import torch
import torch.nn.functional as F
from torch import nn

INIT = {"std": 6.0, "bias": 0.0}

torch.manual_seed(3)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = nn.Sequential(nn.Linear(10, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 6))
for name, p in net.named_parameters():
    if "weight" in name:
        p.data.normal_(0.0, INIT["std"])
    else:
        p.data.fill_(INIT["bias"])
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
