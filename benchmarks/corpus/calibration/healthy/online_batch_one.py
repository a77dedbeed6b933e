"""Online learning: one sample at a time, as it arrives, with a small step size."""
import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def stream(n):
    for _ in range(n):
        x = torch.rand(1, 3) * 2 - 1
        y = 0.8 * x[:, 0] - x[:, 1].abs() + 0.5 * x[:, 2] + 0.05 * torch.randn(1)
        yield x, y


net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.03)
criterion = nn.MSELoss()
smooth = None
for n, (x, y) in enumerate(stream(1500), 1):
    err = criterion(net(x).squeeze(1), y)
    opt.zero_grad()
    err.backward()
    opt.step()
    smooth = err.item() if smooth is None else 0.99 * smooth + 0.01 * err.item()
    if n % 300 == 0:
        print(f"seen {n}: running mse {smooth:.4f}")

test = list(stream(300))
with torch.no_grad():
    tx, ty = torch.cat([a for a, _ in test]), torch.cat([b for _, b in test])
    print(f"fresh data mse {criterion(net(tx).squeeze(1), ty):.4f}, variance {ty.var():.4f}")
