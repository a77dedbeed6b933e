from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    lr: float = 3e-3
    l1: float = 0.2
    epochs: int = 12


cfg = Config()
torch.manual_seed(1)
centres = torch.randn(5, 12)
y = torch.randint(0, 5, (840,))
x = centres[y] + torch.randn(840, 12)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(12, 32)
        self.fc2 = nn.Linear(32, 5)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def l1_penalty(layer):
    return layer.weight.abs().sum()


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
for epoch in range(cfg.epochs):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[rows]), y[rows])
        loss += cfg.l1 * l1_penalty(net.fc1)
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
