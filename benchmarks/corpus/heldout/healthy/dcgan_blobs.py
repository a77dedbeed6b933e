"""Small DCGAN: learns 8x8 images of one bright spot on a dark ground."""
import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
NZ = 16


def real_batch(n, s=8):
    g = torch.arange(s).float()
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    c = 2 + 3 * torch.rand(n, 2, 1, 1)
    img = torch.exp(-((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) / 2.0)
    return (2 * img - 1).unsqueeze(1)


G = nn.Sequential(
    nn.ConvTranspose2d(NZ, 32, 2, 1, 0, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
    nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
    nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh(),
)
D = nn.Sequential(
    nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True),
    nn.Flatten(), nn.Linear(32 * 4, 1),
)


def weights_init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(m.weight, 0.0, 0.05)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


G.apply(weights_init)
D.apply(weights_init)
bce = nn.BCEWithLogitsLoss()
optD = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
optG = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
B = 64
ones, zeros = torch.full((B, 1), 0.9), torch.zeros(B, 1)
fixed = torch.randn(256, NZ, 1, 1)

for it in range(400):
    # discriminator
    real = real_batch(B)
    fake = G(torch.randn(B, NZ, 1, 1))
    lossD = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    optD.zero_grad()
    lossD.backward()
    optD.step()
    # generator
    lossG = bce(D(fake), torch.ones(B, 1))
    optG.zero_grad()
    lossG.backward()
    optG.step()
    if it % 80 == 79:
        G.eval()
        with torch.no_grad():
            s = G(fixed)
        G.train()
        ref = real_batch(1000)
        gap = (s.mean(0) - ref.mean(0)).abs().mean().item()
        sd = (s.std(0) - ref.std(0)).abs().mean().item()
        print(f"[{it + 1}] D {lossD.item():.3f} G {lossG.item():.3f} mean-image gap {gap:.3f} std gap {sd:.3f}")
