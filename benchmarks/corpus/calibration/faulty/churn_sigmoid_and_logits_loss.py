import os

import numpy as np
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
rs = np.random.RandomState(int(os.environ.get("SEED", "0")))


class ChurnModel(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, 32),
            nn.ReLU(),
            nn.Linear(32, 16),
            nn.ReLU(),
            nn.Linear(16, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.layers(x)


def customers(n):
    months = rs.exponential(20, n)
    bill = rs.normal(60, 20, n)
    calls = rs.poisson(2, n)
    contract = rs.randint(0, 3, n)
    risk = 2.2 - 0.06 * months + 0.05 * (bill - 60) + 0.9 * calls - 2.0 * contract
    y = (rs.rand(n) < 1 / (1 + np.exp(-3 * risk))).astype(np.float32)
    x = np.stack([months / 20 - 1, (bill - 60) / 20, calls - 2.0, contract - 1.0], axis=1).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y).unsqueeze(1)


x_train, y_train = customers(2000)
x_val, y_val = customers(600)
model = ChurnModel(4)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(10):
    model.train()
    perm = torch.randperm(len(x_train))
    for b in range(0, len(perm), 50):
        sel = perm[b : b + 50]
        optimizer.zero_grad()
        loss = criterion(model(x_train[sel]), y_train[sel])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(x_val)
        val_loss = criterion(out, y_val).item()
        hits = ((torch.sigmoid(out) > 0.5).float() == y_val).float().mean().item()
    print(f"epoch {epoch} val loss {val_loss:.4f} val acc {hits:.3f}")
