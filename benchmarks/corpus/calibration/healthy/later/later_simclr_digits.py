"""
NT-Xent pretraining of a small encoder on unlabelled 8x8 digits, then a linear
probe on the frozen features.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, einsum

torch.manual_seed(21)

TAU = 0.2
N = 96           # images per step, 2N views
STEPS = 240
PROBE_STEPS = 300


def augment(x: Tensor) -> Tensor:
    b = x.size(0)
    # small random affine map
    ang = (torch.rand(b) - 0.5) * 0.6
    s = 1.0 + (torch.rand(b) - 0.5) * 0.3
    tx, ty = (torch.rand(2, b) - 0.5) * 0.4
    cos, sin = torch.cos(ang) * s, torch.sin(ang) * s
    theta = torch.stack([torch.stack([cos, -sin, tx], -1), torch.stack([sin, cos, ty], -1)], 1)
    grid = F.affine_grid(theta, list(x.shape), align_corners=False)
    x = F.grid_sample(x, grid, align_corners=False)
    # intensity + noise
    x = x * (0.7 + 0.6 * torch.rand(b, 1, 1, 1))
    return x + 0.05 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, width: int = 24, dim: int = 64):
        super().__init__()
        self.c1 = nn.Conv2d(1, width, 3, padding=1)
        self.c2 = nn.Conv2d(width, 2 * width, 3, padding=1, stride=2)
        self.c3 = nn.Conv2d(2 * width, 2 * width, 3, padding=1, stride=2)
        self.fc = nn.Linear(8 * width, dim)

    def forward(self, x: Tensor) -> Tensor:
        x = F.gelu(self.c1(x))
        x = F.gelu(self.c2(x))
        x = F.gelu(self.c3(x))
        return self.fc(x.flatten(1))


class Projector(nn.Module):
    def __init__(self, dim: int = 64, out: int = 32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, out, bias=False))

    def forward(self, h: Tensor) -> Tensor:
        return F.normalize(self.net(h), dim=-1)


def nt_xent(za: Tensor, zb: Tensor, tau: float) -> Tensor:
    n = za.size(0)
    z = torch.cat([za, zb], dim=0)
    sim = einsum("id,jd->ij", z, z) / tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    pos = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, pos)


data = load_digits()
x_all = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16.0
y_all = torch.tensor(data.target)
perm = torch.randperm(len(x_all))
tr, te = perm[:1300], perm[1300:]

enc, proj = Encoder(), Projector()
params = list(enc.parameters()) + list(proj.parameters())
opt = torch.optim.AdamW(params, lr=2e-3, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)

for step in range(STEPS):
    idx = tr[torch.randint(len(tr), (N,))]
    za, zb = proj(enc(augment(x_all[idx]))), proj(enc(augment(x_all[idx])))
    loss = nt_xent(za, zb, TAU)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 40 == 0 or step == STEPS - 1:
        with torch.no_grad():
            align = einsum("nd,nd->n", za, zb).mean()
            other = einsum("nd,nd->n", za, zb.roll(1, 0)).mean()
        print(f"step {step:4d}  nt-xent {loss.item():.4f}  cos(pos) {align:.3f}  cos(other) {other:.3f}")

# linear probe, encoder stays as it is
for p in enc.parameters():
    p.requires_grad_(False)
enc.eval()
with torch.no_grad():
    f_tr, f_te = enc(x_all[tr]), enc(x_all[te])

probe = nn.Linear(f_tr.size(1), 10)
probe_opt = torch.optim.SGD(probe.parameters(), lr=0.1, momentum=0.9)
for i in range(PROBE_STEPS):
    loss = F.cross_entropy(probe(f_tr), y_all[tr])
    probe_opt.zero_grad()
    loss.backward()
    probe_opt.step()
    if i % 100 == 0:
        print(f"probe {i:3d}  loss {loss.item():.4f}")

acc_tr = (probe(f_tr).argmax(-1) == y_all[tr]).float().mean().item()
acc_te = (probe(f_te).argmax(-1) == y_all[te]).float().mean().item()
print(f"linear probe: train acc {acc_tr:.4f}  test acc {acc_te:.4f}")
