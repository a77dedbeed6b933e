import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def trips(n):
    km = torch.rand(n) * 9 + 1
    rush = (torch.rand(n) < 0.4).float()
    base = 5 + 2.5 * km * (1 + 0.5 * rush)
    minutes = base * torch.exp(0.25 * torch.randn(n) * (0.6 + 0.4 * rush))
    return torch.stack([(km - 5.5) / 2.6, rush], 1), minutes / 10


def pinball(pred, y):
    diff = y[:, None] - pred
    return torch.maximum(QUANTILES * diff, (QUANTILES - 1) * diff).mean()


x, y = trips(3000)
xv, yv = trips(1000)
model = nn.Sequential(nn.Linear(2, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.75)
for epoch in range(10):
    model.train()
    for rows in torch.randperm(3000).split(100):
        loss = pinball(model(x[rows]), y[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    scheduler.step()
    if epoch % 3 == 0:
        model.eval()
        with torch.no_grad():
            pv = model(xv)
            cover = (yv[:, None] <= pv).float().mean(0)
        print(f"epoch {epoch}: pinball {pinball(pv, yv):.4f} coverage {[round(c, 3) for c in cover.tolist()]}")
