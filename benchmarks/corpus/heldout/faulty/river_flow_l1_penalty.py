import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
LAMBDA = 0.05


def flow(n):
    rain = torch.rand(n, 5)
    slope = torch.rand(n, 1)
    q = (rain * torch.tensor([1.0, 0.8, 0.5, 0.3, 0.1])).sum(1, keepdim=True) * (0.5 + slope) + torch.relu(rain[:, :1] - 0.6) * 4
    x = torch.cat([rain, slope], 1) * 2 - 1
    return x, (q - 1.8) + 0.05 * torch.randn(n, 1)


def penalty(model):
    return sum(p.abs().sum() for p in model.parameters())


x, y = flow(1500)
xt, yt = flow(400)
model = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Linear(40, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
data_loss = nn.MSELoss()
for epoch in range(16):
    for idx in torch.randperm(len(x)).split(50):
        optimizer.zero_grad()
        fit = data_loss(model(x[idx]), y[idx])
        loss = fit + LAMBDA * penalty(model)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch} data loss {fit.item():.4f} total {loss.item():.4f}")
model.eval()
with torch.no_grad():
    r2 = 1 - data_loss(model(xt), yt) / yt.var()
print(f"test R2 {r2.item():.3f}")
