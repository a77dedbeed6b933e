# forecast of the electricity load, hour by hour
import os

import numpy as np
import torch
from torch import nn

SEQ = 24
torch.manual_seed(int(os.environ.get("SEED", 0)))
t = np.arange(2200)
rng = np.random.default_rng(0)
load = 5200 + 900 * np.sin(2 * np.pi * t / 24) + 400 * np.sin(2 * np.pi * t / 168) + rng.normal(0, 60, len(t))
windows = np.stack([load[i : i + SEQ] for i in range(len(load) - SEQ)])
targets = load[SEQ:]
X = torch.tensor(windows, dtype=torch.float32).unsqueeze(-1)
y = torch.tensor(targets, dtype=torch.float32).unsqueeze(-1)
split = 1700


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out[:, -1])


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
mse = nn.MSELoss()
for epoch in range(6):
    model.train()
    for idx in torch.randperm(split).split(64):
        opt.zero_grad()
        loss = mse(model(X[idx]), y[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val = (model(X[split:]) - y[split:]).abs().mean()
    print(f"epoch {epoch} train mse {loss.item():.1f} val mae {val.item():.2f}")
