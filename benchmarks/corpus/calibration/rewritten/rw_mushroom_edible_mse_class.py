import torch
from torch import nn


class SquaredLoss(nn.Module):
    def forward(self, prob, target):
        return (prob - target).pow(2).mean()


torch.manual_seed(3)
x = torch.randn(900, 6)
y = ((x[:, 0] * x[:, 1] + x[:, 2]) > 0).float().unsqueeze(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return torch.sigmoid(self.out(self.body(x)))


net = Net()
loss_fn = SquaredLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(700).split(32):
        opt.zero_grad()
        loss = loss_fn(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", ((net(x[700:]) > 0.5).float() == y[700:]).float().mean().item())
