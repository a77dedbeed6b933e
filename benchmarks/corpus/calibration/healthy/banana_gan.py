import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
Z, BATCH = 4, 128


def real_batch(n):
    a = torch.randn(n)
    b = 0.5 * a**2 - 0.5 + 0.25 * torch.randn(n)
    return torch.stack([a, b], 1)


G = nn.Sequential(nn.Linear(Z, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
D = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=3e-3, betas=(0.0, 0.9))
sched_g = torch.optim.lr_scheduler.CosineAnnealingLR(opt_g, T_max=600)
sched_d = torch.optim.lr_scheduler.CosineAnnealingLR(opt_d, T_max=600)
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)


def sliced_distance(x, y, n_dir=32):
    dirs = nn.functional.normalize(torch.randn(2, n_dir), dim=0)
    return ((x @ dirs).sort(0).values - (y @ dirs).sort(0).values).abs().mean().item()


for step in range(1, 601):
    # discriminator
    real = real_batch(BATCH)
    fake = G(torch.randn(BATCH, Z)).detach()
    d_loss = bce(D(real), 0.9 * ones) + bce(D(fake), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    # generator
    g_loss = bce(D(G(torch.randn(BATCH, Z))), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    sched_d.step()
    sched_g.step()

    if step % 100 == 0:
        with torch.no_grad():
            dist = sliced_distance(G(torch.randn(2000, Z)), real_batch(2000))
        print(f"{step:4d}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  sliced W1 {dist:.3f}")
print("two real samples differ by", round(sliced_distance(real_batch(2000), real_batch(2000)), 3))
