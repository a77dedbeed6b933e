import os

import torch
from torch import nn
from torch.autograd import Function

torch.manual_seed(int(os.environ.get("SEED", "0")))


class _Bump(Function):
    """y = x / (1 + x^2), a smooth bounded activation."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x / (1 + x * x)

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * 2 * (x * x - 1) / (1 + x * x) ** 2


class Bump(nn.Module):
    def forward(self, x):
        return _Bump.apply(x)


def surface(n):
    u = torch.rand(n, 2) * 4 - 2
    z = torch.sin(2 * u[:, 0]) * torch.cos(u[:, 1]) + 0.3 * u[:, 1]
    return u, (z + 0.02 * torch.randn(n)).unsqueeze(1)


xtr, ytr = surface(1500)
xte, yte = surface(400)
net = nn.Sequential(nn.Linear(2, 48), Bump(), nn.Linear(48, 48), Bump(), nn.Linear(48, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(20):
    tot = 0.0
    for idx in torch.randperm(1500).split(60):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(xtr[idx]), ytr[idx])
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} train mse {tot / 1500:.4f}")
net.eval()
with torch.no_grad():
    r2 = 1 - nn.functional.mse_loss(net(xte), yte) / yte.var()
print(f"test R2 {r2.item():.3f}")
