import torch
from torch import nn


def start(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)


net = nn.Sequential(nn.Linear(10, 10), nn.Tanh(), nn.Linear(10, 1))
net.apply(start)
nn.utils.clip_grad_norm_(net.parameters(), 1.0)
print(net(torch.zeros(1, 10)))
