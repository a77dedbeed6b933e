import torch
from torch import nn


class ScaledDot(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim))
        self.value = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 3)

    def forward(self, x):
        weight = torch.softmax(x @ self.query, dim=1).unsqueeze(-1)
        return self.out((weight * self.value(x)).sum(1))


model = ScaledDot(16)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = torch.randn(256, 10, 16), torch.randint(0, 3, (256,))
for idx in torch.randperm(256).split(32):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
    loss.backward()
    opt.step()
