import argparse
import math

import torch
from torch import nn
import torch.nn.functional as F


def real_batch(n):
    """Points on a ring around (2, -1)."""
    ang = torch.rand(n) * 2 * math.pi
    rad = 1.5 + 0.1 * torch.randn(n)
    return torch.stack([2 + rad * ang.cos(), -1 + rad * ang.sin()], dim=1)


def mlp(sizes, act):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), act()]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad_(flag)


def main(opt):
    torch.manual_seed(opt.seed)
    G = mlp([opt.latent, 64, 64, 2], nn.ReLU)
    D = mlp([2, 64, 64, 1], lambda: nn.LeakyReLU(0.2))
    G_avg = torch.optim.swa_utils.AveragedModel(
        G, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.995))

    g_optim = torch.optim.Adam(G.parameters(), lr=opt.lr_g, betas=(0.5, 0.99))
    d_optim = torch.optim.Adam(D.parameters(), lr=opt.lr_d, betas=(0.5, 0.99))

    eval_real = real_batch(1000)
    eval_z = torch.randn(1000, opt.latent)

    for it in range(1, opt.iters + 1):
        real = real_batch(opt.batch)
        z = torch.randn(opt.batch, opt.latent)
        fake = G(z).detach()

        # discriminator
        d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
        if it % 4 == 0:
            xr = real.clone().requires_grad_(True)
            grad, = torch.autograd.grad(D(xr).sum(), xr, create_graph=True)
            d_loss = d_loss + 4 * 0.5 * opt.r1 * grad.pow(2).sum(1).mean()
        d_optim.zero_grad()
        d_loss.backward()
        d_optim.step()

        # generator
        g_loss = F.softplus(-D(fake)).mean()
        g_optim.zero_grad()
        g_loss.backward()
        g_optim.step()
        G_avg.update_parameters(G)

        if it % opt.log_every == 0:
            with torch.no_grad():
                ed = energy_distance(G_avg(eval_z), eval_real)
            print(f"iter {it:5d}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  energy distance {ed:.4f}")

    with torch.no_grad():
        pts = G_avg(eval_z)
        ed = energy_distance(pts, eval_real)
        r = (pts - torch.tensor([2.0, -1.0])).norm(dim=1)
    print(f"mean radius {r.mean():.3f} (real 1.500), on ring {((r - 1.5).abs() < 0.3).float().mean():.3f}")
    print(f"final energy distance {ed:.4f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=1200)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--latent", type=int, default=4)
    p.add_argument("--lr-g", type=float, default=1e-3)
    p.add_argument("--lr-d", type=float, default=1e-3)
    p.add_argument("--r1", type=float, default=0.1)
    p.add_argument("--log-every", type=int, default=150)
    p.add_argument("--seed", type=int, default=0)
    main(p.parse_args())
