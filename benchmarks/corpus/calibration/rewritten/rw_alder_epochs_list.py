import torch
import torch.nn.functional as F
from torch import nn

PHASES = [(2, 0.003)]
torch.manual_seed(3)
x = torch.randn(800, 6)
y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]
net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters())
for epochs, lr in PHASES:
    for group in opt.param_groups:
        group["lr"] = lr
    for epoch in range(epochs):
        for rows in torch.randperm(640).split(64):
            opt.zero_grad()
            loss = F.mse_loss(net(x[rows]), y[rows])
            loss.backward()
            opt.step()
        with torch.no_grad():
            print(epoch, "val mse", F.mse_loss(net(x[640:]), y[640:]).item())
