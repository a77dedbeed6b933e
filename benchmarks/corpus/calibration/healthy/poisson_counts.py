import os
import numpy as np
import torch
import torch.nn as nn

seed = int(os.environ.get("SEED", "0"))
np.random.seed(seed)
torch.manual_seed(seed)

# hourly bike hires
N = 3000
hour = np.random.randint(0, 24, N)
temp = np.random.normal(14, 8, N)
weekend = (np.random.rand(N) < 2 / 7).astype(float)
rate = np.exp(0.9 + 1.0 * np.sin((hour - 7) / 24 * 2 * np.pi) + 0.03 * temp - 0.5 * weekend * (hour < 10))
hires = np.random.poisson(rate)

feats = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), (temp - 14) / 8, weekend], 1)
X = torch.tensor(feats, dtype=torch.float32)
y = torch.tensor(hires, dtype=torch.float32)
Xtr, ytr, Xte, yte = X[:2400], y[:2400], X[2400:], y[2400:]
true_te = torch.tensor(rate[2400:], dtype=torch.float32)

model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
nll = nn.PoissonNLLLoss(log_input=True)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
print("constant-rate loss", round(nll(ytr.mean().log().expand(600), yte).item(), 3),
      "true-rate loss", round(nll(true_te.log(), yte).item(), 3))

for epoch in range(10):
    for batch in torch.randperm(2400).split(60):
        log_rate = model(Xtr[batch]).squeeze(1)
        loss = nll(log_rate, ytr[batch])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 2 == 1:
        with torch.no_grad():
            print(f"epoch {epoch + 1}: train {loss.item():.3f} test {nll(model(Xte).squeeze(1), yte).item():.3f}")
