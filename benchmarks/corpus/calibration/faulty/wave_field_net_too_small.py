import os
import math
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Field(nn.Module):
    def __init__(self, hidden=2):
        super().__init__()
        self.layer1 = nn.Linear(2, hidden)
        self.layer2 = nn.Linear(hidden, 1)

    def forward(self, p):
        return self.layer2(torch.tanh(self.layer1(p)))


def sample(n):
    p = torch.rand(n, 2) * 4 - 2
    return p, 1.8 * torch.sin(1.6 * p[:, :1]) * torch.cos(0.4 * math.pi * p[:, 1:])


p, u = sample(2000)
pv, uv = sample(400)
field = Field()
opt = torch.optim.Adam(field.parameters(), lr=2e-2)
mse = nn.MSELoss()
for epoch in range(20):
    field.train()
    for idx in torch.randperm(2000).split(80):
        opt.zero_grad()
        loss = mse(field(p[idx]), u[idx])
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        field.eval()
        with torch.no_grad():
            print(f"epoch {epoch + 1} train {loss.item():.4f} val mse {mse(field(pv), uv).item():.4f}")
