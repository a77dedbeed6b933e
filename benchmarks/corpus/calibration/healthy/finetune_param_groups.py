# Pretrain on plenty of source data, then fine-tune: old layers with a very small rate, the new head with a normal one.
import argparse
import os

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--backbone-lr", type=float, default=2e-4)
ap.add_argument("--head-lr", type=float, default=1e-2)
cli = ap.parse_args()

torch.manual_seed(int(os.environ.get("SEED", "0")))
mix = torch.randn(16, 16) / 4


def latent(x):
    return torch.tanh(x @ mix * 1.5)


def source(n):
    x = torch.randn(n, 16)
    return x, latent(x)


def target(n):
    x = torch.randn(n, 16)
    z = latent(x)
    return x, (z[:, 0] + z[:, 1] - z[:, 2] + 0.1 * torch.randn(n) > 0).long()


backbone = nn.Sequential(nn.Linear(16, 96), nn.ReLU(), nn.Linear(96, 32), nn.ReLU())
aux = nn.Linear(32, 16)
opt = torch.optim.Adam([*backbone.parameters(), *aux.parameters()], lr=3e-3)
x, z = source(3000)
for epoch in range(9):
    for idx in torch.randperm(3000).split(75):
        loss = nn.functional.mse_loss(aux(backbone(x[idx])), z[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"pretrain mse {loss.item():.4f} (variance {z.var():.3f})")

xt, yt = target(1500)
xe, ye = target(500)
head = nn.Linear(32, 2)
opt = torch.optim.AdamW(
    [{"params": backbone.parameters(), "lr": cli.backbone_lr}, {"params": head.parameters(), "lr": cli.head_lr}],
    weight_decay=1e-3,
)
for epoch in range(10):
    backbone.train(), head.train()
    for idx in torch.randperm(1500).split(50):
        loss = nn.functional.cross_entropy(head(backbone(xt[idx])), yt[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        backbone.eval(), head.eval()
        with torch.no_grad():
            acc = (head(backbone(xe)).argmax(1) == ye).float().mean()
        print(f"fine-tune epoch {epoch + 1}: loss {loss.item():.4f} test acc {acc:.3f}")
