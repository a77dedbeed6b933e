"""Reviews of restaurants with a GRU. Batches hold texts of like length, which saves padding."""
import json
import random
from collections import Counter

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

random.seed(11)
torch.manual_seed(11)

raw = json.load(open("reviews.json"))
random.shuffle(raw)
cut = int(len(raw) * 0.8)
counts = Counter(w for r in raw[:cut] for w in r["review"].split())
vocab = {w: k for k, (w, _) in enumerate(counts.most_common(), start=2)}


def numbers(rows):
    seqs = [torch.tensor([vocab.get(w, 1) for w in r["review"].split()]) for r in rows]
    labels = [int(r["stars"] > 3) for r in rows]
    order = sorted(range(len(seqs)), key=lambda i: len(seqs[i]), reverse=True)
    seqs = [seqs[i] for i in order]
    labels = torch.tensor(labels)[order]
    return seqs, labels


def batches(seqs, labels, size, mix):
    starts = list(range(0, len(seqs), size))
    if mix:
        random.shuffle(starts)
    for s in starts:
        part = seqs[s:s + size]
        lengths = torch.tensor([len(p) for p in part])
        yield pad_sequence(part, batch_first=True), lengths, labels[s:s + size].float()


class ReviewNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.emb = nn.Embedding(n, 24, padding_idx=0)
        self.gru = nn.GRU(24, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, 1)

    def forward(self, ids, lengths):
        _, h = self.gru(pack_padded_sequence(self.emb(ids), lengths, batch_first=True))
        return self.out(torch.cat([h[0], h[1]], 1)).squeeze(1)


train, test = numbers(raw[:cut]), numbers(raw[cut:])
net = ReviewNet(len(vocab) + 2)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(7):
    net.train()
    total = 0.0
    for ids, lengths, y in batches(*train, 32, mix=True):
        loss = nn.functional.binary_cross_entropy_with_logits(net(ids, lengths), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    print(f"epoch {epoch + 1} loss {total / cut:.4f}")
net.eval()
right = 0
with torch.no_grad():
    for ids, lengths, y in batches(*test, 64, mix=False):
        right += ((net(ids, lengths) > 0) == y.bool()).sum().item()
print(f"test accuracy {right / len(test[0]):.3f}")
