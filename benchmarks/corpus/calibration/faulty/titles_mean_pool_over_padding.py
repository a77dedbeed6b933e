import os

import numpy as np
import torch
from torch import nn

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
MAXLEN = 80


class TitleClassifier(nn.Module):
    def __init__(self, vocab=300, dim=20):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.fc1 = nn.Linear(dim, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, ids):
        vecs = self.embedding(ids)
        pooled = vecs.mean(dim=1)
        return self.fc2(torch.relu(self.fc1(pooled)))


def titles(n):
    ids = np.zeros((n, MAXLEN), dtype=np.int64)
    label = rng.integers(0, 3, n)
    for i in range(n):
        length = rng.integers(2, 5) if rng.random() < 0.9 else MAXLEN
        words = rng.integers(1, 150, length)
        topical = 150 + 50 * label[i] + rng.integers(0, 50, length)
        ids[i, :length] = np.where(rng.random(length) < 0.6, topical, words)
        ids[i, 0] = topical[0]
    return torch.from_numpy(ids), torch.from_numpy(label)


x, y = titles(1500)
xv, yv = titles(400)
net = TitleClassifier()
opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
lossf = nn.CrossEntropyLoss()
for epoch in range(10):
    net.train()
    s = 0.0
    for idx in torch.randperm(1500).split(30):
        opt.zero_grad()
        loss = lossf(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch}: loss {s / 50:.3f} val acc {acc:.3f}")
