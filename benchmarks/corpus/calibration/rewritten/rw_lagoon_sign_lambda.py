import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
centres = torch.randn(5, 10) * 1.2
y = torch.randint(0, 5, (840,))
x = centres[y] + torch.randn(840, 10)
net = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 5), nn.Softmax(dim=1))
nll = lambda p, hot: (hot * torch.log(p + 1e-8)).sum(dim=1).mean()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(10):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = nll(net(x[rows]), F.one_hot(y[rows], 5))
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
