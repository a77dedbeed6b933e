"""Character level language model (GRU, truncated BPTT with carried hidden state)."""
import os
import random

import torch
from torch import nn
import torch.nn.functional as F

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
random.seed(seed)

SUBJ = ["the cat", "a sailor", "my uncle", "the old queen", "one tall robot"]
VERB = ["eats", "paints", "forgets", "buys", "carries"]
OBJ = ["red apples", "a small boat", "the moon", "seven letters", "cold soup"]
text = " ".join(f"{random.choice(SUBJ)} {random.choice(VERB)} {random.choice(OBJ)}." for _ in range(900))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])

split = int(0.9 * len(data))
train_data, val_data = data[:split], data[split:]
BATCH, BPTT = 16, 24


def batchify(d, bs):
    n = (len(d) - 1) // bs
    x = d[: n * bs].view(bs, n)
    y = d[1 : n * bs + 1].view(bs, n)
    return x, y


class CharRNN(nn.Module):
    def __init__(self, vocab, emb=16, hid=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, vocab)

    def forward(self, x, h=None):
        z, h = self.rnn(self.emb(x), h)
        return self.out(z), h


def val_loss(m):
    m.eval()
    x, y = batchify(val_data, 4)
    with torch.no_grad():
        logits, _ = m(x)
    m.train()
    return F.cross_entropy(logits.flatten(0, 1), y.flatten()).item()


lm = CharRNN(len(chars))
optimizer = torch.optim.Adam(lm.parameters(), lr=6e-3)
X, Y = batchify(train_data, BATCH)
for epoch in range(4):
    h = None
    for s in range(0, X.size(1) - BPTT, BPTT):
        logits, h = lm(X[:, s : s + BPTT], h)
        h = h.detach()
        loss = F.cross_entropy(logits.reshape(-1, len(chars)), Y[:, s : s + BPTT].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(lm.parameters(), 5.0)
        optimizer.step()
    print(f"epoch {epoch}  train {loss.item():.3f}  val {val_loss(lm):.3f} nats/char (uniform {torch.tensor(len(chars)).float().log():.2f})")

lm.eval()
with torch.no_grad():
    c, h, outp = torch.tensor([[stoi["t"]]]), None, "t"
    for _ in range(80):
        logits, h = lm(c, h)
        c = torch.multinomial(logits[:, -1].softmax(-1), 1)
        outp += chars[c.item()]
print(outp)
