"""
Reverse a string: GRU encoder, GRU decoder with masked dot attention, tied embedding / output matrix.

 * curriculum: length 2-3 first, then up to 8 (the loss jumps whenever the material gets harder)
 * scheduled sampling: the probability of feeding the true previous token decays from 1.0 to 0.3
"""
import random

import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD, BOS, EOS, OFFSET, LETTERS = 0, 1, 2, 3, 14
VOCAB = OFFSET + LETTERS


def batch(n, lo, hi, rnd):
    src = [[rnd.randrange(OFFSET, VOCAB) for _ in range(rnd.randint(lo, hi))] for _ in range(n)]
    S = max(map(len, src))
    x = torch.full((n, S), PAD)
    y = torch.full((n, S + 1), PAD)
    for i, s in enumerate(src):
        x[i, :len(s)] = torch.tensor(s)
        y[i, :len(s) + 1] = torch.tensor(s[::-1] + [EOS])
    return x, y


class Seq2Seq(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.pos = nn.Embedding(16, d)
        self.enc = nn.GRU(d, d // 2, batch_first=True, bidirectional=True)
        self.dec = nn.GRUCell(d, d)
        self.query = nn.Linear(d, d, bias=False)
        self.mix = nn.Linear(2 * d, d)
        self.out = nn.Linear(d, VOCAB)
        self.out.weight = self.emb.weight          # weight tying
        nn.init.normal_(self.emb.weight, std=d ** -0.5)
        self.scale = d ** 0.5

    def forward(self, x, y=None, teacher=1.0, steps=None):
        B, S = x.shape
        mask = x == PAD
        e = self.emb(x) * self.scale + self.pos(torch.arange(S))
        mem, h = self.enc(pack_padded_sequence(e, (~mask).sum(1), batch_first=True, enforce_sorted=False))
        mem, _ = pad_packed_sequence(mem, batch_first=True)
        h = torch.cat([h[0], h[1]], -1)
        tok = torch.full((B,), BOS)
        steps = y.shape[1] if y is not None else steps
        logits = []
        for t in range(steps):
            h = self.dec(self.emb(tok) * self.scale, h)
            att = torch.einsum("bd,bsd->bs", self.query(h), mem) / self.scale
            att = att.masked_fill(mask, float("-inf")).softmax(-1)
            ctx = torch.einsum("bs,bsd->bd", att, mem)
            o = self.out(torch.tanh(self.mix(torch.cat([h, ctx], -1))))
            logits.append(o)
            tok = o.argmax(-1)
            if y is not None and teacher > 0:
                use_true = (torch.rand(B) < teacher) & (y[:, t] != PAD)
                tok = torch.where(use_true, y[:, t], tok)
        return torch.stack(logits, 1)


@torch.no_grad()
def exact_match(model, data):
    model.eval()
    x, y = data
    p = model(x, steps=y.shape[1]).argmax(-1)
    model.train()
    return ((p == y) | (y == PAD)).all(1).float().mean().item()


def main():
    torch.manual_seed(12)
    rnd = random.Random(12)
    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=8e-3)
    held_out = batch(250, 6, 8, random.Random(777))
    total = 360
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=8e-3, total_steps=total, pct_start=0.15)
    print(f"exact match on length 6-8 before training: {exact_match(model, held_out):.3f}")
    run = None
    for step in range(1, total + 1):
        stage = min(step // 45, 3)
        lo, hi = [(2, 3), (2, 5), (2, 6), (2, 8)][stage]
        teacher = max(0.3, 1.0 - step / total)
        x, y = batch(64, lo, hi, rnd)
        logits = model(x, y, teacher)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=PAD)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        run = loss.item() if run is None else 0.9 * run + 0.1 * loss.item()
        if step % 45 == 0:
            print(f"step {step:4d} len {lo}-{hi} teacher {teacher:.2f} loss {run:.4f} | exact match (6-8, free running) {exact_match(model, held_out):.3f}")


if __name__ == "__main__":
    main()
