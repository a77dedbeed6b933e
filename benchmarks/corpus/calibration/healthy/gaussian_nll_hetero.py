import os
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class MeanVar(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.mean = nn.Linear(48, 1)
        self.raw_var = nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), F.softplus(self.raw_var(h)) + 1e-4


def sample(n):
    x = torch.rand(n, 1) * 4 - 2
    sd = 0.05 + 0.15 * (x + 2) / 4
    return x, torch.sin(2.5 * x) + sd * torch.randn_like(x), sd


x, y, _ = sample(1500)
xv, yv, sdv = sample(500)
model = MeanVar()
criterion = nn.GaussianNLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=16, eta_min=5e-4)
ideal = criterion(torch.sin(2.5 * xv), yv, sdv**2).item()

for epoch in range(16):
    model.train()
    for idx in torch.randperm(1500).split(50):
        mu, var = model(x[idx])
        loss = criterion(mu, y[idx], var)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    schedule.step()
    model.eval()
    with torch.no_grad():
        mu, var = model(xv)
        val = criterion(mu, yv, var).item()
    if epoch % 3 == 0:
        print(f"epoch {epoch} val nll {val:.3f} (ideal {ideal:.3f}) mean predicted sd {var.sqrt().mean():.3f}")
