import torch
from torch import nn

torch.manual_seed(1)
x = torch.randn(840, 6) * 30
y = (x[:, 0] + x[:, 1] > 0).float()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 24)
        self.b = nn.Linear(24, 1)

    def forward(self, x):
        return torch.sigmoid(self.b(torch.relu(self.a(x)))).squeeze(1)


class LogLoss:
    def __call__(self, p, t):
        return -(t * torch.log(p) + (1 - t) * torch.log(1 - p)).mean()


net, log_loss = Net(), LogLoss()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(10):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = log_loss(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", ((net(x[640:]) > 0.5).float() == y[640:]).float().mean().item())
