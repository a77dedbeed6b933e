import torch
from torch import nn
from torch.distributions import Normal


class Density(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        mean, log_std = self.net(x).unbind(1)
        return Normal(mean, log_std.exp())


model = Density()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(1000, 3)
y = x[:, 0] + 0.2 * torch.randn(1000)
for b in torch.randperm(1000).split(50):
    opt.zero_grad()
    loss = -model(x[b]).log_prob(y[b]).mean()
    loss.backward()
    opt.step()
