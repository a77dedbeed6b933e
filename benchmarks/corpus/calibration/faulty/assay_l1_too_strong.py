import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
L1 = 0.05


def assays(n):
    x = torch.randn(n, 15)
    y = torch.sin(x[:, 0] * 1.5) + 0.8 * x[:, 1] * (x[:, 2] > 0) + 0.4 * x[:, 3]
    return x, (y + 0.05 * torch.randn(n)).unsqueeze(1)


x, y = assays(2400)
x_val, y_val = assays(400)
net = nn.Sequential(nn.Linear(15, 48), nn.ELU(), nn.Linear(48, 24), nn.ELU(), nn.Linear(24, 1))
mse = nn.MSELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(15):
    net.train()
    for idx in torch.randperm(2400).split(60):
        optimizer.zero_grad()
        fit = mse(net(x[idx]), y[idx])
        penalty = sum(p.abs().sum() for p in net.parameters())
        loss = fit + L1 * penalty
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        net.eval()
        with torch.no_grad():
            val = mse(net(x_val), y_val).item()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} (fit {fit.item():.3f}) val mse {val:.4f}")
