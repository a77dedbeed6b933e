# Route support tickets to queues. Reads support.db (table tickets).
import random
import sqlite3
from collections import Counter

import torch
from torch import nn

random.seed(1)
torch.manual_seed(1)


class TicketStore:
    def __init__(self, path):
        self.con = sqlite3.connect(path)

    def column(self, name):
        return [row[0] for row in self.con.execute(f"SELECT {name} FROM tickets")]

    def close(self):
        self.con.close()


class Router(nn.Module):
    def __init__(self, n_words, n_queues, dim=24):
        super().__init__()
        self.emb = nn.EmbeddingBag(n_words, dim, mode="mean")
        self.out = nn.Linear(dim, n_queues)

    def forward(self, ids, offsets):
        return self.out(self.emb(ids, offsets))


def collate(items):
    flat, offsets, ys = [], [], []
    for ids, y in items:
        offsets.append(len(flat))
        flat.extend(ids)
        ys.append(y)
    return torch.tensor(flat), torch.tensor(offsets), torch.tensor(ys)


store = TicketStore("support.db")
bodies = store.column("body")
queues = store.column("queue")
store.close()

names = sorted(set(queues))
pairs = list(zip(bodies, [names.index(q) for q in queues]))
random.shuffle(pairs)
n_test = len(pairs) // 5
test, train = pairs[:n_test], pairs[n_test:]

counts = Counter(w for body, _ in train for w in body.split())
vocab = {w: i + 1 for i, (w, c) in enumerate(counts.most_common()) if c > 1}


def encode(rows):
    return [([vocab.get(w, 0) for w in body.split()], y) for body, y in rows]


train, test = encode(train), encode(test)
print(f"{len(train)} train / {len(test)} test tickets, {len(vocab)} words, queues {names}")

net = Router(len(vocab) + 1, len(names))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(12):
    random.shuffle(train)
    total = 0.0
    for start in range(0, len(train), 64):
        batch = train[start:start + 64]
        ids, off, y = collate(batch)
        loss = nn.functional.cross_entropy(net(ids, off), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch + 1} loss {total / len(train):.4f}")

with torch.no_grad():
    ids, off, y = collate(test)
    acc = (net(ids, off).argmax(1) == y).float().mean().item()
print(f"test accuracy: {acc:.3f}")
