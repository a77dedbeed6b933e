"""
Solve  -Laplace(u) = f  on the unit square, u = 0 on the boundary, with a sine network.

    u(x, y) = x(1-x) y(1-y) * N(x, y)          (boundary condition is hard-wired)

Stage 1: Adam on freshly drawn collocation points.
Stage 2: L-BFGS on a fixed grid, double precision all the way (float32 makes L-BFGS stall early).
"""
import math
import time

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(7)
pi = math.pi


class Sine(nn.Module):
    def __init__(self, w0=1.0):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


class Siren(nn.Module):
    def __init__(self, width=32, depth=2, w_first=6.0, w_hidden=1.0):
        super().__init__()
        layers = []
        d = 2
        for i in range(depth):
            lin = nn.Linear(d, width)
            w0 = w_first if i == 0 else w_hidden
            with torch.no_grad():
                # Sitzmann et al.: U(-1/d, 1/d) in the first layer, U(+-sqrt(6/d)/w0) afterwards
                bound = 1 / d if i == 0 else math.sqrt(6 / d) / w0
                lin.weight.uniform_(-bound, bound)
            layers += [lin, Sine(w0)]
            d = width
        layers.append(nn.Linear(d, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, xy):
        x, y = xy[:, :1], xy[:, 1:]
        return 16 * x * (1 - x) * y * (1 - y) * self.net(xy)


def exact(xy):
    x, y = xy[:, :1], xy[:, 1:]
    return torch.sin(pi * x) * torch.sin(2 * pi * y) + 0.5 * torch.sin(2 * pi * x) * torch.sin(pi * y)


def rhs(xy):
    # both modes have eigenvalue 5 pi^2
    return 5 * pi ** 2 * exact(xy)


def laplacian(model, xy):
    xy = xy.detach().requires_grad_(True)
    u = model(xy)
    (g,) = torch.autograd.grad(u.sum(), xy, create_graph=True)
    lap = 0.0
    for k in range(2):
        (gk,) = torch.autograd.grad(g[:, k].sum(), xy, create_graph=True)
        lap = lap + gk[:, k:k + 1]
    return lap


def residual_loss(model, xy):
    return (laplacian(model, xy) + rhs(xy)).pow(2).mean()


def grid(n):
    t = (torch.arange(n) + 0.5) / n
    return torch.cartesian_prod(t, t)


@torch.no_grad()
def rel_l2(model, xy):
    return ((model(xy) - exact(xy)).norm() / exact(xy).norm()).item()


model = Siren()
test_grid = grid(41)
print(f"start         rel. L2 error {rel_l2(model, test_grid):.3e}   (u = 0 would be 1.0)")

t0 = time.time()
adam = torch.optim.Adam(model.parameters(), lr=3e-3)
for it in range(401):
    xy = torch.rand(200, 2)
    loss = residual_loss(model, xy)
    adam.zero_grad()
    loss.backward()
    adam.step()
    if it % 100 == 0:
        print(f"adam   {it:4d}  residual {loss.item():.3e}  rel. L2 {rel_l2(model, test_grid):.3e}")

coll = grid(18)
lbfgs = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=25, history_size=30,
                          line_search_fn="strong_wolfe", tolerance_grad=1e-10, tolerance_change=1e-14)


def closure():
    lbfgs.zero_grad()
    loss = residual_loss(model, coll)
    loss.backward()
    return loss


for outer in range(6):
    loss = lbfgs.step(closure)
    print(f"lbfgs  {outer:4d}  residual {loss.item():.3e}  rel. L2 {rel_l2(model, test_grid):.3e}")

print(f"done in {time.time() - t0:.1f}s, final relative L2 error {rel_l2(model, test_grid):.2e}")
