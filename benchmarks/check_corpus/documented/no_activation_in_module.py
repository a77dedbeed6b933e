import torch
from torch import nn


class Price(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.one = nn.Linear(n_in, 128)
        self.two = nn.Linear(128, 64)
        self.three = nn.Linear(64, 1)

    def forward(self, x):
        x = self.one(x)
        x = self.two(x)
        return self.three(x)


model = Price(13)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(400, 13)
y = x[:, :1] * x[:, 1:2]
for b in torch.randperm(400).split(40):
    opt.zero_grad()
    nn.functional.mse_loss(model(x[b]), y[b]).backward()
    opt.step()
