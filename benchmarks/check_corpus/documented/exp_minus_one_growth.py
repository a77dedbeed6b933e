import torch
from torch import nn


class GrowthHead(nn.Module):
    """Predicts a relative change from a log rate."""

    def __init__(self, width):
        super().__init__()
        self.rate = nn.Linear(width, 1)

    def forward(self, h):
        return torch.exp(self.rate(h)) - 1


head = GrowthHead(16)
opt = torch.optim.Adam(head.parameters(), lr=1e-3)
h, change = torch.randn(256, 16), 0.01 * torch.randn(256, 1)
for _ in range(100):
    opt.zero_grad()
    loss = nn.functional.mse_loss(head(h), change)
    loss.backward()
    opt.step()
