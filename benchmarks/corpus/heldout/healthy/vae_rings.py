"""VAE on 12x12 binary ring images."""
import os

import torch
from torch import nn
from torch.distributions import Bernoulli, Normal, kl_divergence

torch.manual_seed(int(os.environ.get("SEED", "0")))


def rings(n, s=12):
    g = torch.arange(s).float()
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    c = 4 + 4 * torch.rand(n, 2, 1, 1)
    r = 2 + 2.0 * torch.rand(n, 1, 1)
    dist = ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2).sqrt()
    return ((dist - r).abs() < 0.9).float().view(n, -1)


class VAE(nn.Module):
    def __init__(self, d=144, h=128, z=6):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.mu = nn.Linear(h, z)
        self.logvar = nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, d))

    def elbo(self, x):
        h = self.trunk(x)
        q = Normal(self.mu(h), (0.5 * self.logvar(h)).exp())
        z = q.rsample()
        rec = Bernoulli(logits=self.dec(z)).log_prob(x).sum(-1)
        kl = kl_divergence(q, Normal(0.0, 1.0)).sum(-1)
        return rec, kl


train_x, test_x = rings(3000), rings(500)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=1.5e-3)
steps = 500
for step in range(steps):
    x = train_x[torch.randint(0, 3000, (64,))]
    rec, kl = vae.elbo(x)
    beta = min(1.0, (step + 1) / 100)  # KL warm-up
    loss = (-rec + beta * kl).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if (step + 1) % 100 == 0:
        vae.eval()
        with torch.no_grad():
            r, k = vae.elbo(test_x)
        vae.train()
        print(f"step {step + 1}: train {loss.item():.2f} | test -ELBO {(k - r).mean().item():.2f} (rec {-r.mean().item():.2f}, kl {k.mean().item():.2f})")

p = train_x.mean(0).clamp(1e-3, 1 - 1e-3)
print("independent pixel baseline:", round(-Bernoulli(probs=p).log_prob(test_x).sum(-1).mean().item(), 2))
