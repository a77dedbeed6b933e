import torch
import torch.nn.functional as F
from torch import nn

net = nn.Sequential(nn.Linear(12, 30), nn.ReLU(), nn.Linear(30, 5))
opt = torch.optim.Adam(net.parameters())
x, label = torch.randn(500, 12), torch.randint(0, 5, (500,))
onehot = F.one_hot(label, num_classes=5)
for b in torch.randperm(500).split(50):
    opt.zero_grad()
    loss = F.cross_entropy(net(x[b]), onehot[b].float())
    loss.backward()
    opt.step()
