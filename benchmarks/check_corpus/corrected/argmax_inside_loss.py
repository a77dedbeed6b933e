import torch
import torch.nn.functional as F
from torch import nn

net = nn.Sequential(nn.Linear(10, 30), nn.ReLU(), nn.Linear(30, 3))
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(300, 10), torch.randint(0, 3, (300,))
for b in torch.randperm(300).split(30):
    opt.zero_grad()
    logits = net(x[b])
    loss = F.cross_entropy(logits, y[b])
    loss.backward()
    opt.step()
