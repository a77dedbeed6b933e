import os

import numpy as np
import torch
import torch.nn as nn

np.random.seed(int(os.environ.get("SEED", "0")))
torch.manual_seed(int(os.environ.get("SEED", "0")))

# noisy sine on [0, 6]
xs = np.random.uniform(0, 6, size=(400, 1))
ys = np.sin(2 * xs) + 0.05 * np.random.randn(400, 1)
x = torch.tensor(xs).float()
t = torch.tensor(ys).float()

hidden = 64
model = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))
mse = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

batch = 40
for epoch in range(5):
    idx = np.random.permutation(len(x))
    for start in range(0, len(x), batch):
        part = idx[start:start + batch]
        opt.zero_grad()
        out = mse(model(x[part]), t[part])
        out.backward()
        opt.step()

print("mse %.4f" % mse(model(x), t).item())
