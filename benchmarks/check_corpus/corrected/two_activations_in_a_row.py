import torch
from torch import nn

net = nn.Sequential(
    nn.Linear(12, 48),
    nn.ReLU(),
    nn.Linear(48, 48),
    nn.ReLU(),
    nn.Linear(48, 1),
)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(500, 12)
y = x[:, :3].prod(1, keepdim=True)
for epoch in range(30):
    for b in torch.randperm(500).split(50):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[b]), y[b])
        loss.backward()
        opt.step()
