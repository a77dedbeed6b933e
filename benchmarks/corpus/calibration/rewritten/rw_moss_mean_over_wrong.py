import torch
import torch.nn.functional as F
from torch import nn

MODE = "sum"
torch.manual_seed(3)
x = torch.randn(800, 6)
y = x[:, :1] * 2 - x[:, 1:2] + torch.sin(2 * x[:, 2:3])
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))


def loss_of(pred, target):
    return F.mse_loss(pred, target, reduction=MODE)


opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for epoch in range(12):
    for rows in torch.randperm(640).split(64):
        opt.zero_grad()
        loss = loss_of(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val mse", F.mse_loss(net(x[640:]), y[640:]).item())
