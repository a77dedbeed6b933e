from collections import OrderedDict

import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(800, 5)
y = 4 + 2 * x[:, :1] - x[:, 1:2]
net = nn.Sequential(
    OrderedDict(
        hidden=nn.Linear(5, 32),
        act=nn.ReLU(),
        out=nn.Linear(32, 1),
        last=nn.Sigmoid(),
    )
)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(15):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val mse", nn.functional.mse_loss(net(x[640:]), y[640:]).item())
