import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self, n_in):
        self.hidden = nn.Linear(n_in, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


model = Regressor(5)
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.randn(64, 5), torch.randn(64, 1)
optimizer.zero_grad()
nn.functional.mse_loss(model(x), y).backward()
optimizer.step()
