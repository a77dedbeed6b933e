"""Fit a grey-scale picture with a coordinate MLP on random Fourier features."""
import math
import numpy as np
import torch
import torch.nn as nn

seed = 0
side = 64
num_freqs = 64
sigma = 2.5
width = 128
batch = 512
iters = 1500
lr = 1e-3

np.random.seed(seed)
torch.manual_seed(seed)


def make_picture(n):
    ys, xs = np.mgrid[:n, :n] / (n - 1)
    pic = 0.45 + 0.2 * np.sin(2 * np.pi * (1.5 * xs + ys)) + 0.1 * np.cos(2 * np.pi * 3 * ys)
    for cx, cy, r, v in [(0.3, 0.35, 0.16, 0.4), (0.7, 0.6, 0.2, -0.35), (0.55, 0.2, 0.08, 0.3)]:
        d = np.sqrt((xs - cx) ** 2 + (ys - cy) ** 2)
        pic = pic + v / (1 + np.exp((d - r) * 60))
    return np.clip(pic, 0, 1)


class FourierMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("B", torch.randn(2, num_freqs) * sigma)
        self.layers = nn.Sequential(
            nn.Linear(2 * num_freqs, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, xy):
        proj = 2 * math.pi * xy @ self.B
        return self.layers(torch.cat([proj.sin(), proj.cos()], dim=-1))


def psnr(mse):
    return -10.0 * math.log10(mse)


picture = torch.tensor(make_picture(side), dtype=torch.float32)
grid = torch.linspace(0, 1, side)
coords = torch.stack(torch.meshgrid(grid, grid, indexing="ij"), dim=-1).reshape(-1, 2)
values = picture.reshape(-1, 1)

# hold out a quarter of the pixels
order = torch.randperm(side * side)
n_val = side * side // 4
val_idx, train_idx = order[:n_val], order[n_val:]
train_xy, train_v = coords[train_idx], values[train_idx]
val_xy, val_v = coords[val_idx], values[val_idx]

net = FourierMLP()
optim = torch.optim.Adam(net.parameters(), lr=lr)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, T_max=iters, eta_min=1e-5)

for it in range(1, iters + 1):
    net.train()
    pick = torch.randint(0, len(train_xy), (batch,))
    pred = net(train_xy[pick])
    loss = ((pred - train_v[pick]) ** 2).mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    sched.step()

    if it % 250 == 0:
        net.eval()
        with torch.no_grad():
            val_mse = ((net(val_xy).reshape(-1) - val_v.reshape(-1)) ** 2).mean().item()
        print(f"iter {it:4d}  train mse {loss.item():.6f}  val mse {val_mse:.6f}  val PSNR {psnr(val_mse):.2f} dB")
