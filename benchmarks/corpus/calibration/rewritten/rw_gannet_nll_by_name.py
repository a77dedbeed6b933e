import torch
import torch.nn.functional as F
from torch import nn


class Config:
    loss = "nll_loss"
    lr = 0.02


def make_loss(name):
    return getattr(F, name)


torch.manual_seed(2)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 6))
loss_fn = make_loss(Config.loss)
opt = torch.optim.SGD(net.parameters(), lr=Config.lr)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = loss_fn(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
