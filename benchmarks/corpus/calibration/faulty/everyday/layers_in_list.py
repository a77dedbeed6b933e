import os

import torch
import torch.nn as nn


class DeepNet(nn.Module):
    def __init__(self, n_in, n_out, width=32, depth=3):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.hidden = [nn.Linear(width, width) for _ in range(depth)]
        self.out = nn.Linear(width, n_out)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        for h in self.hidden:
            x = torch.relu(h(x))
        return self.out(x)


torch.manual_seed(int(os.environ.get("SEED", 0)))
X = torch.rand(2000, 4) * 2 - 1
y = (torch.sin(4 * X[:, 0]) * torch.cos(3 * X[:, 1]) + X[:, 2] * X[:, 3]).unsqueeze(1)
model = DeepNet(4, 1)
opt = torch.optim.Adam(model.parameters(), lr=2e-5)
for epoch in range(20):
    total = 0
    for idx in torch.randperm(1600).split(32):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(X[idx]), y[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    with torch.no_grad():
        val = nn.functional.mse_loss(model(X[1600:]), y[1600:]).item()
    print(f"Epoch {epoch}: train {total / 1600:.5f}, val mse {val:.5f}")
