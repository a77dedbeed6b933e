from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 42
    num_codes: int = 64
    code_dim: int = 8
    channels: int = 32
    beta: float = 0.25
    batch_size: int = 64
    epochs: int = 32
    lr: float = 3e-1


class VectorQuantizer(nn.Module):
    def __init__(self, num_codes, code_dim, beta):
        super().__init__()
        self.beta = beta
        self.codebook = nn.Embedding(num_codes, code_dim)
        nn.init.uniform_(self.codebook.weight, -1.0, 1.0)

    def forward(self, z):
        b, c, h, w = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, c)
        with torch.no_grad():
            codes = torch.cdist(flat, self.codebook.weight).argmin(dim=1)
        q = self.codebook(codes).view(b, h, w, c).permute(0, 3, 1, 2)
        codebook_loss = F.mse_loss(q, z.detach())
        commit_loss = F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return q, codebook_loss + self.beta * commit_loss, codes


class VQVAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        ch = cfg.channels
        self.encoder = nn.Sequential(
            nn.Conv2d(1, ch, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch, ch, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(ch, cfg.code_dim, 1),
        )
        self.vq = VectorQuantizer(cfg.num_codes, cfg.code_dim, cfg.beta)
        self.decoder = nn.Sequential(
            nn.Conv2d(cfg.code_dim, ch, 3, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(ch, ch, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(ch, 1, 3, padding=1),
        )

    def forward(self, x):
        z_q, vq_loss, codes = self.vq(self.encoder(x))
        return self.decoder(z_q), vq_loss, codes


def build_loaders(cfg):
    images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16.0
    idx_train, idx_val = train_test_split(range(len(images)), test_size=0.2, random_state=cfg.seed)
    train, val = images[idx_train], images[idx_val]
    mean, std = train.mean(), train.std()
    train, val = (train - mean) / std, (val - mean) / std
    train_loader = DataLoader(TensorDataset(train), batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(TensorDataset(val), batch_size=cfg.batch_size)
    return train_loader, val_loader


def train_epoch(model, loader, optimizer):
    model.train()
    rec_sum = vq_sum = 0.0
    for (x,) in loader:
        recon, vq_loss, _ = model(x)
        rec_loss = F.mse_loss(recon, x)
        loss = rec_loss + vq_loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        rec_sum += rec_loss.item()
        vq_sum += vq_loss.item()
    return rec_sum / len(loader), vq_sum / len(loader)


@torch.no_grad()
def validate(model, loader, num_codes):
    model.eval()
    se, n = 0.0, 0
    counts = torch.zeros(num_codes)
    for (x,) in loader:
        recon, _, codes = model(x)
        se += F.mse_loss(recon, x, reduction="sum").item()
        n += x.numel()
        counts += torch.bincount(codes, minlength=num_codes)
    p = counts / counts.sum()
    perplexity = torch.exp(-(p * (p + 1e-10).log()).sum()).item()
    return se / n, perplexity


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    train_loader, val_loader = build_loaders(cfg)
    model = VQVAE(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(1, cfg.epochs + 1):
        rec, vq = train_epoch(model, train_loader, optimizer)
        if epoch % 4 == 0:
            val_mse, ppl = validate(model, val_loader, cfg.num_codes)
            print(f"epoch {epoch:2d}: recon {rec:.4f} vq {vq:.4f} | val mse {val_mse:.4f} "
                  f"(variance is 1.0) perplexity {ppl:.1f}")


if __name__ == "__main__":
    main()
