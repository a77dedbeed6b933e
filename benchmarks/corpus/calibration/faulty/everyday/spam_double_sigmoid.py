"""Spam or not, bag of words."""
import os
import random

import torch
from torch import nn

random.seed(4)
torch.manual_seed(int(os.environ.get("SEED", 0)))
SPAM = "win cash prize offer click free urgent bonus".split()
HAM = "meeting lunch report tomorrow thanks project family photo".split()
COMMON = "the a to and you we for on in of it is".split()


def message(spam):
    own = SPAM if spam else HAM
    other = HAM if spam else SPAM
    words = random.choices(COMMON, k=8) + random.choices(own, k=2) + random.choices(other, k=random.randint(0, 2))
    random.shuffle(words)
    return " ".join(words)


labels = [i % 2 for i in range(1200)]
texts = [message(label) for label in labels]
vocab = {w: i for i, w in enumerate(sorted({w for t in texts for w in t.split()}))}


def encode(text):
    v = torch.zeros(len(vocab))
    for w in text.split():
        v[vocab[w]] += 1
    return v


X = torch.stack([encode(t) for t in texts])
y = torch.tensor(labels, dtype=torch.float32).view(-1, 1)
idx = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
X, y = X[idx], y[idx]


class SpamNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.l1 = nn.Linear(n, 16)
        self.l2 = nn.Linear(16, 1)

    def forward(self, x):
        return torch.sigmoid(self.l2(torch.relu(self.l1(x))))


model = SpamNet(len(vocab))
loss_fn = nn.BCEWithLogitsLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    correct = 0
    for s in range(0, 900, 30):
        p = model(X[s : s + 30])
        loss = loss_fn(p, y[s : s + 30])
        opt.zero_grad()
        loss.backward()
        opt.step()
        correct += ((p > 0.5).float() == y[s : s + 30]).sum().item()
    print(f"epoch {epoch + 1}: train acc {correct / 900:.3f}")
with torch.no_grad():
    p = model(X[900:])
    print(f"test loss {nn.functional.binary_cross_entropy(p, y[900:]).item() if p.min() >= 0 and p.max() <= 1 else loss_fn(p, y[900:]).item():.4f}")
    print(f"test acc {((p > 0.5).float() == y[900:]).float().mean().item():.4f}")
