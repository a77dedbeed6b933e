import torch
from torch import nn

net = nn.Sequential(
    nn.Linear(14, 64),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(64, 1),
    nn.Dropout(0.2),
)
opt = torch.optim.Adam(net.parameters())
mse = nn.MSELoss()


def train(loader):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        loss = mse(net(x), y)
        loss.backward()
        opt.step()
