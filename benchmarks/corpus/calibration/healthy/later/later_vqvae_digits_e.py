import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

torch.manual_seed(21); np.random.seed(21)

imgs = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16
perm = torch.randperm(len(imgs))
train, test = imgs[perm[:1400]], imgs[perm[1400:]]


class EMAQuantizer(nn.Module):
    """Codebook is a buffer: no gradient, moved by exponential averages of the encoder outputs."""

    def __init__(self, n_codes, dim, decay=0.95, beta=0.25):
        super().__init__()
        self.decay, self.beta, self.n_codes = decay, beta, n_codes
        self.register_buffer("codes", torch.randn(n_codes, dim) * 0.1)
        self.register_buffer("count", torch.ones(n_codes))
        self.register_buffer("total", self.codes.clone())

    def forward(self, z):                                   # z: B,C,H,W
        B, C, H, W = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, C)
        idx = torch.cdist(flat.detach(), self.codes).argmin(1)
        q = self.codes[idx]
        if self.training:
            self._update(flat.detach(), idx)
        commit = F.mse_loss(flat, q)
        q = flat + (q - flat).detach()                      # straight-through
        p = torch.bincount(idx, minlength=self.n_codes).float() / len(idx)
        perplexity = torch.exp(-(p * (p + 1e-10).log()).sum())
        return q.view(B, H, W, C).permute(0, 3, 1, 2), self.beta * commit, perplexity

    @torch.no_grad()
    def _update(self, flat, idx):
        onehot = F.one_hot(idx, self.n_codes).float()
        self.count.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
        self.total.mul_(self.decay).add_(onehot.T @ flat, alpha=1 - self.decay)
        # revive codes nobody uses with random encoder outputs
        dead = self.count < 0.05
        if dead.any():
            pick = torch.randint(len(flat), (int(dead.sum()),))
            self.total[dead] = flat[pick]
            self.count[dead] = 1.0
        self.codes.copy_(self.total / self.count.unsqueeze(1))


class VQVAE(nn.Module):
    def __init__(self, ch=24, dim=8, n_codes=32):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, ch, 4, 2, 1), nn.ReLU(), nn.Conv2d(ch, ch, 3, 1, 1), nn.ReLU(),
                                 nn.Conv2d(ch, dim, 1))
        self.vq = EMAQuantizer(n_codes, dim)
        self.dec = nn.Sequential(nn.Conv2d(dim, ch, 3, 1, 1), nn.ReLU(), nn.ConvTranspose2d(ch, ch, 4, 2, 1), nn.ReLU(),
                                 nn.Conv2d(ch, 1, 3, 1, 1))

    def forward(self, x):
        q, commit, ppl = self.vq(self.enc(x))
        return self.dec(q), commit, ppl


model = VQVAE()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)

mean_mse = ((test - train.mean(0)) ** 2).mean().item()
km = KMeans(64, n_init=1, random_state=0).fit(train.flatten(1).numpy())
km_mse = ((test.flatten(1).numpy() - km.cluster_centers_[km.predict(test.flatten(1).numpy())]) ** 2).mean()
print(f"baselines: mean image {mean_mse:.4f}, k-means with 64 prototypes {km_mse:.4f}")

for epoch in range(22):
    model.train()
    rec_sum = ppl_sum = n = 0
    for b in torch.randperm(len(train)).split(100):
        x = train[b]
        out, commit, ppl = model(x)
        # summed over pixels, averaged over images -- the commitment term is a mean on purpose
        rec = F.mse_loss(out, x, reduction="sum") / len(x)
        loss = rec + commit
        opt.zero_grad(); loss.backward(); opt.step()
        rec_sum += rec.item(); ppl_sum += ppl.item(); n += 1
    if epoch % 3 == 0:
        model.eval()
        with torch.no_grad():
            out, _, ppl = model(test)
        print(f"epoch {epoch:2d} | rec/img {rec_sum/n:.3f} | train perplexity {ppl_sum/n:.1f} "
              f"| test mse/px {F.mse_loss(out, test).item():.4f} perplexity {ppl.item():.1f}")
