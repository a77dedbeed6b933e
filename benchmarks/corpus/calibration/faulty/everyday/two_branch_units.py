import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", 0)))
g = torch.Generator().manual_seed(12)
n = 1500
sensor = torch.randn(n, 24, generator=g)
year = torch.randint(1950, 2020, (n, 1), generator=g).float()
salary = 20000 + 60000 * torch.rand(n, 1, generator=g)
table = torch.cat([year, salary], 1)
target = (sensor[:, :4].sum(1) + (year[:, 0] - 1985) / 15 + (salary[:, 0] - 50000) / 20000 > 0).long()


class TwoBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(24, 32), nn.ReLU())
        self.b = nn.Sequential(nn.Linear(2, 16), nn.ReLU())
        self.head = nn.Linear(48, 2)

    def forward(self, s, t):
        return self.head(torch.cat([self.a(s), self.b(t)], dim=1))


data = TensorDataset(sensor, table, target)
train, val = torch.utils.data.random_split(data, [1100, 400], generator=torch.Generator().manual_seed(0))
model = TwoBranch()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(12):
    for s, t, y in DataLoader(train, 32, shuffle=True):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(s, t), y)
        loss.backward()
        opt.step()
    with torch.no_grad():
        s, t, y = next(iter(DataLoader(val, 400)))
        print(f"epoch {epoch} loss {loss.item():.3f} val accuracy {(model(s, t).argmax(1) == y).float().mean().item():.3f}")
