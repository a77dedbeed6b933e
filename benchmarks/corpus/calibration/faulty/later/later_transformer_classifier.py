import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    vocab: int = 20
    seq_len: int = 16
    d_model: int = 32
    heads: int = 4
    layers: int = 2
    batch: int = 64
    steps: int = 300
    lr: float = 1e-1
    seed: int = 0


cfg = Config()
torch.manual_seed(cfg.seed)


def get_batch(n):
    """Which of the marker tokens 0, 1, 2 occurs most often in the sequence?"""
    y = torch.randint(0, 3, (n,))
    x = torch.randint(3, cfg.vocab, (n, cfg.seq_len))
    for i in range(n):
        pos = torch.randperm(cfg.seq_len)
        x[i, pos[:5]] = y[i]
        others = [c for c in range(3) if c != y[i]]
        x[i, pos[5:7]] = others[0]
        x[i, pos[7:10]] = others[1]
    return x, y


class TextTransformer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok = nn.Embedding(c.vocab, c.d_model)
        pos = torch.arange(c.seq_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, c.d_model, 2) * (-math.log(10000.0) / c.d_model))
        pe = torch.zeros(c.seq_len, c.d_model)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe)
        layer = nn.TransformerEncoderLayer(c.d_model, c.heads, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, c.layers)
        self.cls = nn.Linear(c.d_model, 3)

    def forward(self, x):
        h = self.encoder(self.tok(x) + self.pe)
        return self.cls(h.mean(dim=1))


model = TextTransformer(cfg)
print("parameters:", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
criterion = nn.CrossEntropyLoss()
x_train, y_train = get_batch(4000)
x_val, y_val = get_batch(500)

model.train()
avg = None
for step in range(1, cfg.steps + 1):
    idx = torch.randint(0, len(x_train), (cfg.batch,))
    loss = criterion(model(x_train[idx]), y_train[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    avg = loss.item() if avg is None else 0.95 * avg + 0.05 * loss.item()
    if step % 50 == 0:
        print(f"step {step:4d} loss {avg:.4f}")

model.eval()
with torch.no_grad():
    acc = (model(x_val).argmax(-1) == y_val).float().mean().item()
print(f"val accuracy {acc:.3f}")
