import math
import os
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    vocab: int = 10
    length: int = 8
    dim: int = 48
    heads: int = 4
    layers: int = 2
    batch: int = 64
    steps: int = 350
    warmup: int = 40
    peak_lr: float = 3e-3
    weight_decay: float = 0.01


class Encoder(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.tok = nn.Embedding(c.vocab, c.dim)
        self.pos = nn.Parameter(torch.randn(1, c.length, c.dim))
        layer = nn.TransformerEncoderLayer(
            c.dim, c.heads, dim_feedforward=2 * c.dim, dropout=0.0, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, c.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(c.dim)
        self.head = nn.Linear(c.dim, c.vocab)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tok(x) + self.pos)))


def lr_factor(step, c: Config):
    if step < c.warmup:
        return (step + 1) / c.warmup
    progress = (step - c.warmup) / max(1, c.steps - c.warmup)
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * progress))


def sample(c: Config, n):
    src = torch.randint(0, c.vocab, (n, c.length))
    return src, src.flip(1)


def train(c: Config):
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    model = Encoder(c)
    opt = torch.optim.AdamW(model.parameters(), lr=c.peak_lr, weight_decay=c.weight_decay)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: lr_factor(s, c))
    ce = nn.CrossEntropyLoss()
    model.train()
    for step in range(c.steps):
        src, tgt = sample(c, c.batch)
        logits = model(src)
        loss = ce(logits.reshape(-1, c.vocab), tgt.reshape(-1))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if (step + 1) % 70 == 0:
            print(f"step {step + 1} loss {loss.item():.4f} lr {sched.get_last_lr()[0]:.2e}")
    model.eval()
    with torch.no_grad():
        src, tgt = sample(c, 256)
        print("token accuracy", (model(src).argmax(-1) == tgt).float().mean().item())


if __name__ == "__main__":
    train(Config())
