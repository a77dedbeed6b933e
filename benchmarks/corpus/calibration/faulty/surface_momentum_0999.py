import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def surface(n):
    p = torch.rand(n, 2) * 4 - 2
    return p, (torch.sin(p[:, 0] * 1.5) + torch.cos(p[:, 1])).unsqueeze(1)


p, z = surface(1500)
pv, zv = surface(300)
model = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.999)
for step in range(500):
    idx = torch.randint(0, 1500, (60,))
    optimizer.zero_grad()
    loss = loss_fn(model(p[idx]), z[idx])
    loss.backward()
    optimizer.step()
    if (step + 1) % 50 == 0:
        with torch.no_grad():
            print(f"step {step + 1}: train {loss.item():.4f} val mse {loss_fn(model(pv), zv).item():.4f}")
