import torch
from torch import nn


class TinyViT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.patch = cfg.patch
        n = (cfg.size // cfg.patch) ** 2
        self.embed = nn.Linear(cfg.patch ** 2, cfg.dim)
        self.pos = nn.Parameter(0.02 * torch.randn(n, cfg.dim))
        self.attn = nn.MultiheadAttention(cfg.dim, cfg.heads, batch_first=True)
        self.ln1, self.ln2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 64), nn.GELU(), nn.Linear(64, cfg.dim))
        self.head = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, img):
        p = self.patch
        t = img.unfold(1, p, p).unfold(2, p, p).flatten(3).flatten(1, 2)
        t = self.embed(t) + self.pos
        q = self.ln1(t)
        t = t + self.attn(q, q, q, need_weights=False)[0]
        t = t + self.mlp(self.ln2(t))
        return self.head(t.mean(1))
