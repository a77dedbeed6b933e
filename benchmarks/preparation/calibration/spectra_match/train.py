"""Learn an embedding of Raman spectra in which spectra of the same mineral lie together."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

R = 5


def load():
    z = np.load("spectra.npz")
    x = torch.tensor(z["spectra"])
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    names, y = np.unique(z["name"], return_inverse=True)
    return x[:, None], torch.tensor(y), names


class Embedder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv1d(1, 16, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(16, 32, 5, stride=2, padding=2), nn.ReLU(),
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 24, dim))

    def forward(self, x):
        return F.normalize(self.f(x), dim=1)


def supcon(z, y, tau=0.15):
    sim = z @ z.T / tau
    eye = torch.eye(len(z), dtype=torch.bool)
    sim = sim.masked_fill(eye, -1e9)
    pos = (y[:, None] == y[None]) & ~eye
    logp = sim - sim.logsumexp(1, keepdim=True)
    has = pos.any(1)
    return -((logp * pos).sum(1)[has] / pos.sum(1)[has]).mean()


@torch.no_grad()
def precision_at_r(model, x, y, r=R):
    model.eval()
    z = model(x)
    dist = torch.cdist(z, z)
    nearest = dist.topk(r, dim=1, largest=False).indices
    return (y[nearest] == y[:, None]).float().mean().item()


x, y, names = load()
g = torch.Generator().manual_seed(30)
order = torch.randperm(len(names), generator=g)
is_test = torch.isin(y, order[:25])
xa, ya, xb, yb = x[~is_test], y[~is_test], x[is_test], y[is_test]
print("spectra of", len(names) - 25, "minerals for training and of 25 others for the score:", len(xa), len(xb))

torch.manual_seed(0)
model = Embedder()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
for epoch in range(30):
    model.train()
    tot = 0
    for b in torch.randperm(len(xa)).split(128):
        noisy = xa[b] + 0.1 * torch.randn_like(xa[b])
        loss = supcon(model(noisy), ya[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: loss {tot / len(xa):.3f}")
print(f"precision@{R} on unseen minerals: {precision_at_r(model, xb, yb):.3f}")
