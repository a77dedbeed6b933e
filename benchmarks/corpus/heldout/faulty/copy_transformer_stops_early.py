import argparse
import os

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=2)
ap.add_argument("--dim", type=int, default=32)
ap.add_argument("--lr", type=float, default=3e-3)
opt_ns = ap.parse_args()
torch.manual_seed(int(os.environ.get("SEED", "0")))
VOCAB, LEN = 10, 8


class Reverser(nn.Module):
    """Reads a token string and writes it backwards."""

    def __init__(self, dim):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Parameter(0.1 * torch.randn(LEN, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, dim * 2, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, s):
        return self.out(self.enc(self.tok(s) + self.pos))


def strings(n):
    s = torch.randint(0, VOCAB, (n, LEN))
    return s, s.flip(1)


src, tgt = strings(2560)
src_v, tgt_v = strings(256)
model = Reverser(opt_ns.dim)
optimizer = torch.optim.Adam(model.parameters(), lr=opt_ns.lr)
ce = nn.CrossEntropyLoss()
for epoch in range(opt_ns.epochs):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(src)).split(64):
        optimizer.zero_grad()
        logits = model(src[idx])
        loss = ce(logits.flatten(0, 1), tgt[idx].flatten())
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(src_v).argmax(-1) == tgt_v).float().mean().item()
    print(f"epoch {epoch + 1} loss {total / 40:.4f} val token acc {acc:.3f}")
