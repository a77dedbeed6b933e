import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

rng_seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(rng_seed)
np.random.seed(rng_seed)


def bars(n, side=8):
    """Binary pictures with one or two horizontal or vertical bars."""
    out = np.zeros((n, side, side), dtype=np.float32)
    for i in range(n):
        for _ in range(np.random.randint(1, 3)):
            k = np.random.randint(side)
            if np.random.rand() < 0.5:
                out[i, k, :] = 1
            else:
                out[i, :, k] = 1
    return torch.from_numpy(out.reshape(n, -1))


class VAE(nn.Module):
    def __init__(self, d=64, h=96, z=8):
        super().__init__()
        self.fc1 = nn.Linear(d, h)
        self.mu = nn.Linear(h, z)
        self.logvar = nn.Linear(h, z)
        self.fc2 = nn.Linear(z, h)
        self.fc3 = nn.Linear(h, d)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.mu(h), self.logvar(h)

    def decode(self, z):
        return self.fc3(F.relu(self.fc2(z)))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar) if self.training else mu
        return self.decode(z), mu, logvar


def elbo_loss(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (rec + kl) / x.size(0)


data, held_out = bars(2000), bars(400)
loader = DataLoader(data, batch_size=100, shuffle=True)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=5e-3)

for epoch in range(1, 19):
    vae.train()
    total = 0.0
    for x in loader:
        optimizer.zero_grad()
        logits, mu, logvar = vae(x)
        loss = elbo_loss(logits, x, mu, logvar)
        loss.backward()
        optimizer.step()
        total += loss.item() * x.size(0)
    if epoch % 3 == 0:
        vae.eval()
        with torch.no_grad():
            logits, mu, logvar = vae(held_out)
            pix = ((logits > 0).float() == held_out).float().mean()
            val = elbo_loss(logits, held_out, mu, logvar)
        print(f"epoch {epoch}: train {total / len(data):.2f}  val {val:.2f}  pixel acc {pix:.3f}")
