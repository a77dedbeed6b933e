from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    latent: int = 10
    hidden: int = 128
    epochs: int = 30
    batch_size: int = 32
    accumulate: int = 2
    lr: float = 3e-3
    beta: float = 0.2
    beta_warmup: int = 10
    seed: int = 13


class VAE(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU())
        self.mu = nn.Linear(cfg.hidden, cfg.latent)
        self.logvar = nn.Linear(cfg.hidden, cfg.latent)
        self.dec = nn.Sequential(
            nn.Linear(cfg.latent, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
            nn.Linear(cfg.hidden, 64),
        )

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        return mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def vae_loss(logits, x, mu, logvar, beta):
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return recon + beta * kl, recon, kl


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    sq, n, xs, mus = 0.0, 0, [], []
    for (x,) in loader:
        logits, mu, _ = model(x)
        sq += (torch.sigmoid(logits) - x).pow(2).sum().item()
        n += x.numel()
        xs.append(x)
        mus.append(mu)
    xs, mus = torch.cat(xs), torch.cat(mus)
    var = xs.var(0, unbiased=False).mean().item()
    return {"mse": sq / n, "r2": 1 - sq / n / var, "active_units": int((mus.var(0) > 0.01).sum())}


def run(cfg: Config):
    torch.manual_seed(cfg.seed)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16.0
    train, test = random_split(TensorDataset(x), [1500, len(x) - 1500])
    train_loader = DataLoader(train, cfg.batch_size, shuffle=True, drop_last=True)
    test_loader = DataLoader(test, 512)

    model = VAE(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    for epoch in range(cfg.epochs):
        model.train()
        beta = cfg.beta * min(1.0, (epoch + 1) / cfg.beta_warmup)
        sums = torch.zeros(3)
        opt.zero_grad()
        for i, (xb,) in enumerate(train_loader):
            logits, mu, logvar = model(xb)
            loss, recon, kl = vae_loss(logits, xb, mu, logvar, beta)
            (loss / cfg.accumulate).backward()
            if (i + 1) % cfg.accumulate == 0:
                opt.step()
                opt.zero_grad()
            sums += torch.stack([loss, recon, kl]).detach()
        if (epoch + 1) % 5 == 0:
            loss, recon, kl = (sums / len(train_loader)).tolist()
            print(f"epoch {epoch + 1:3d} beta {beta:.2f} loss {loss:.3f} recon {recon:.3f} kl {kl:.3f}", evaluate(model, test_loader))

    final = evaluate(model, test_loader)
    print("reconstruction R2 on test: {r2:.4f}  (mse {mse:.5f}, active units {active_units})".format(**final))


if __name__ == "__main__":
    run(Config())
