import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 6), nn.Softmax(dim=-1))


def categorical_crossentropy(p, hot):
    return -(hot * torch.log(p + 1e-9)).sum()


opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(12):
    for rows in torch.randperm(640).split(64):
        opt.zero_grad()
        loss = categorical_crossentropy(net(x[rows]), F.one_hot(y[rows], 6).float())
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
