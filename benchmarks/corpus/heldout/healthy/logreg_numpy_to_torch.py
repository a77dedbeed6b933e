#!/usr/bin/env python3
# Logistic regression on a made-up "loan default" table.
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

N = 2000
income = rng.lognormal(10.3, 0.5, N)
age = rng.integers(18, 75, N).astype(float)
debt = rng.gamma(2.0, 4000.0, N)
late = rng.poisson(1.0, N).astype(float)
score = 1.2 * (debt - 8000) / 5600 - 1.5 * (income - 34000) / 18000 + 0.9 * (late - 1) - 0.02 * (age - 46)
y = (score + rng.logistic(0, 0.35, N) > 0).astype(np.float32)
X = np.stack([income, age, debt, late], 1)

idx = rng.permutation(N)
tr, te = idx[:1500], idx[1500:]
mu, sd = X[tr].mean(0), X[tr].std(0)
X = ((X - mu) / sd).astype(np.float32)

train_dl = DataLoader(TensorDataset(torch.from_numpy(X[tr]), torch.from_numpy(y[tr])), batch_size=64, shuffle=True)
Xte, yte = torch.from_numpy(X[te]), torch.from_numpy(y[te])


class LogReg(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = torch.nn.Linear(d, 1)

    def forward(self, x):
        return self.lin(x).squeeze(-1)


clf = LogReg(4)
opt = torch.optim.SGD(clf.parameters(), lr=0.5, weight_decay=1e-4)
for ep in range(20):
    tot = 0.0
    for xb, yb in train_dl:
        loss = F.binary_cross_entropy_with_logits(clf(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(xb)
    if ep % 4 == 3:
        with torch.no_grad():
            acc = ((clf(Xte) > 0).float() == yte).float().mean().item()
        print(f"epoch {ep + 1:2d}  train nll {tot / len(tr):.4f}  test acc {acc:.3f}")
print("coef:", clf.lin.weight.detach().numpy().round(2))
