import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.score = nn.Linear(n, n)
        self.mix = nn.Linear(n, n)

    def forward(self, x):
        gate = torch.sigmoid(self.score(x))
        return gate * self.mix(x)


block = nn.Sequential(Gate(16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(block.parameters(), lr=1e-3)
x = torch.randn(200, 16)
y = x.abs().mean(1, keepdim=True)
for _ in range(50):
    opt.zero_grad()
    loss = nn.functional.mse_loss(block(x), y)
    loss.backward()
    opt.step()
