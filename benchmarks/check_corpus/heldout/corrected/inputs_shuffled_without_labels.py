import torch
from torch import nn


def load(path):
    blob = torch.load(path, weights_only=True)
    return blob["x"], blob["y"]


x, y = load("train.pt")
order = torch.randperm(len(x))
x, y = x[order], y[order]
net = nn.Sequential(nn.Linear(x.shape[1], 50), nn.ReLU(), nn.Linear(50, 4))
opt = torch.optim.Adam(net.parameters())
for i in range(0, len(x), 32):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x[i : i + 32]), y[i : i + 32])
    loss.backward()
    opt.step()
