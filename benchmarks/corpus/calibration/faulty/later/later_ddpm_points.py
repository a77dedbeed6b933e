"""Tiny DDPM on the two-moons distribution."""
import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons

CFG = {
    "seed": 0,
    "n_train": 8192,
    "n_val": 2048,
    "T": 100,
    "hidden": 128,
    "t_dim": 32,
    "batch_size": 256,
    "epochs": 50,
    "lr": 2e-3,
    "ema_decay": 0.99,
}


def get_data(cfg):
    x_train, _ = make_moons(cfg["n_train"], noise=0.05, random_state=cfg["seed"])
    x_val, _ = make_moons(cfg["n_val"], noise=0.05, random_state=cfg["seed"] + 1)
    mean, std = x_train.mean(0), x_train.std(0)
    to_t = lambda a: torch.tensor((a - mean) / std, dtype=torch.float32)
    return to_t(x_train), to_t(x_val)


def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(1000.0) * torch.arange(half) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.sin(), args.cos()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, hidden, t_dim):
        super().__init__()
        self.t_dim = t_dim
        self.time_mlp = nn.Sequential(nn.Linear(t_dim, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.inp = nn.Linear(2, hidden)
        self.fc1 = nn.Linear(hidden, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, t):
        temb = self.time_mlp(timestep_embedding(t, self.t_dim))
        h = F.silu(self.inp(x) + temb)
        h = h + F.silu(self.fc1(h))
        h = h + F.silu(self.fc2(h))
        return self.out(h)


def make_schedule(cfg):
    """Cosine schedule of Nichol & Dhariwal."""
    u = torch.linspace(0, 1, cfg["T"] + 1)
    f = torch.cos((u + 0.008) / 1.008 * math.pi / 2) ** 2
    betas = (1 - f[1:] / f[:-1]).clamp(max=0.999)
    alphas = 1.0 - betas
    return betas, alphas, torch.cumprod(alphas, dim=0)


def diffusion_loss(net, x0, alpha_bar, t=None, noise=None):
    if t is None:
        t = torch.randint(0, len(alpha_bar), (x0.size(0),))
    if noise is None:
        noise = torch.randn_like(x0)
    ab = alpha_bar[t].unsqueeze(1)
    x_t = ab.sqrt() * x0 + (1 - ab).sqrt() * noise
    return F.mse_loss(net(x_t, t), noise)


@torch.no_grad()
def update_ema(ema_net, net, decay):
    for p_ema, p in zip(ema_net.parameters(), net.parameters()):
        p_ema.lerp_(p, 1 - decay)


@torch.no_grad()
def sample(net, n, schedule):
    betas, alphas, alpha_bar = schedule
    x = torch.randn(n, 2)
    for i in reversed(range(len(betas))):
        t = torch.full((n,), i, dtype=torch.long)
        eps = net(x, t)
        x = (x - betas[i] / (1 - alpha_bar[i]).sqrt() * eps) / alphas[i].sqrt()
        if i > 0:
            var = betas[i] * (1 - alpha_bar[i - 1]) / (1 - alpha_bar[i])
            x = x + var.sqrt() * torch.randn_like(x)
    return x


def sliced_wasserstein(a, b, n_proj=64):
    g = torch.Generator().manual_seed(123)
    d = F.normalize(torch.randn(2, n_proj, generator=g), dim=0)
    return ((a @ d).sort(0).values - (b @ d).sort(0).values).abs().mean().item()


def main(cfg):
    torch.manual_seed(cfg["seed"])
    np.random.seed(cfg["seed"])
    x_train, x_val = get_data(cfg)
    schedule = make_schedule(cfg)
    alpha_bar = schedule[2]

    net = Denoiser(cfg["hidden"], cfg["t_dim"])
    ema_net = copy.deepcopy(net).eval().requires_grad_(False)
    opt = torch.optim.Adam(ema_net.parameters(), lr=cfg["lr"])
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=cfg["epochs"], eta_min=1e-5)

    # fixed timesteps and noise, eight draws per validation point
    val_x0 = x_val.repeat(8, 1)
    val_t = torch.randint(0, cfg["T"], (len(val_x0),))
    val_noise = torch.randn_like(val_x0)

    for epoch in range(1, cfg["epochs"] + 1):
        net.train()
        running = 0.0
        for idx in torch.randperm(len(x_train)).split(cfg["batch_size"]):
            loss = diffusion_loss(net, x_train[idx], alpha_bar)
            opt.zero_grad()
            loss.backward()
            opt.step()
            update_ema(ema_net, net, cfg["ema_decay"])
            running += loss.item() * len(idx)
        sched.step()
        if epoch % 10 == 0:
            with torch.no_grad():
                val = diffusion_loss(ema_net, val_x0, alpha_bar, val_t, val_noise).item()
            print(f"epoch {epoch:3d}  train {running / len(x_train):.4f}  val {val:.4f}")

    samples = sample(ema_net, len(x_val), schedule)
    print(f"sliced W1  samples-vs-val: {sliced_wasserstein(samples, x_val):.4f}"
          f"  (train-vs-val: {sliced_wasserstein(x_train[:len(x_val)], x_val):.4f},"
          f" noise-vs-val: {sliced_wasserstein(torch.randn_like(x_val), x_val):.4f})")


if __name__ == "__main__":
    main(CFG)
