import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(int(os.environ.get("SEED", "0")))


def applicants(n):
    income = 30000 + 60000 * torch.rand(n)
    debt_ratio = torch.rand(n)
    years = torch.randint(0, 30, (n,)).float()
    late = torch.poisson(torch.full((n,), 1.0))
    rate = 0.01 + 0.08 * torch.rand(n)
    score = (debt_ratio - 0.5) * 4 + 0.6 * (late - 1) * torch.where(years > 12, -1.0, 1.0) + 25 * (rate - 0.05) - (income - 60000) / 60000
    return torch.stack([income, debt_ratio, years, late, rate], 1), (score > 0).float()


class LoanModel(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.hidden1 = nn.Linear(n_in, 32)
        self.hidden2 = nn.Linear(32, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        return self.out(x).squeeze(1)


features, default = applicants(2400)
data = TensorDataset(features, default)
train_ds, val_ds = random_split(data, [2000, 400])
train_dl = DataLoader(train_ds, batch_size=64, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=400)
model = LoanModel(5)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(12):
    model.train()
    total = 0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = bce(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        xb, yb = next(iter(val_dl))
        acc = ((model(xb) > 0) == (yb > 0.5)).float().mean().item()
    print(f"epoch {epoch}: loss {total / len(train_dl):.3f}, val acc {acc:.3f}")
