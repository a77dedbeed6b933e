import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args()
torch.manual_seed(0)
x = torch.randn(800, 6)
y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]
net = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(args.epochs):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = F.mse_loss(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val mse", F.mse_loss(net(x[640:]), y[640:]).item())
