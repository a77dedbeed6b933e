"""
Solve the damped oscillator
    x' = v,   v' = -w0^2 x - 2 z w0 v,   x(0) = 1, v(0) = 0
with a neural network and no data, only the residual of the equations.
"""
import math
import torch
import torch.nn as nn

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)

w0, zeta = 2.0, 0.15
t_end = 5.0


class Solution(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 2),
        )
        self.register_buffer("start", torch.tensor([[1.0, 0.0]]))

    def forward(self, t):
        # the initial condition holds by construction
        return self.start + (1 - torch.exp(-t)) * self.net(2 * t / t_end - 1)


def exact(t):
    wd = w0 * math.sqrt(1 - zeta ** 2)
    a = zeta * w0
    return torch.exp(-a * t) * (torch.cos(wd * t) + a / wd * torch.sin(wd * t))


def ddt(y, t):
    return torch.autograd.grad(y, t, grad_outputs=torch.ones_like(y), create_graph=True)[0]


def residual_loss(model, t):
    t = t.requires_grad_(True)
    u = model(t)
    x, v = u[:, 0:1], u[:, 1:2]
    r1 = ddt(x, t) - v
    r2 = ddt(v, t) + w0 ** 2 * x + 2 * zeta * w0 * v
    # earlier times first: errors travel forward in time
    w = torch.exp(-0.3 * t.detach())
    return (w * (r1 ** 2 + 0.25 * r2 ** 2)).mean()


def rel_error(model):
    t = torch.linspace(0, t_end, 400).unsqueeze(1)
    with torch.no_grad():
        x = model(t)[:, 0:1]
    ref = exact(t)
    return (torch.linalg.norm(x - ref) / torch.linalg.norm(ref)).item()


model = Solution()
steps = 3000
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=5e-5)

for it in range(steps):
    t = torch.rand(64, 1) * t_end
    optimizer.zero_grad()
    loss = residual_loss(model, t)
    loss.backward()
    optimizer.step()
    scheduler.step()
    if it % 300 == 0:
        print(f"iter {it:5d}   residual {loss.item():.3e}   relative error {rel_error(model):.4f}")

print(f"done.  relative L2 error of x(t): {rel_error(model):.4f}")
