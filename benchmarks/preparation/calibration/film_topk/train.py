#!/usr/bin/env python3
"""Films people will watch next: matrix factorisation with the BPR loss, recall@10."""
from collections import defaultdict
import random
import torch

random.seed(0)
torch.manual_seed(0)
K = 10


class Interactions:
    def __init__(self, path):
        rows = [tuple(map(int, line.split("::"))) for line in open(path) if line.strip()]
        rows.sort(key=lambda r: (r[0], r[3]))
        self.users = {u: n for n, u in enumerate(sorted({r[0] for r in rows}))}
        self.items = {i: n for n, i in enumerate(sorted({r[1] for r in rows}))}
        self.seen = defaultdict(list)
        for u, i, _, _ in rows:
            self.seen[self.users[u]].append(self.items[i])

    def leave_last(self, share=0.2):
        train, test = {}, {}
        for u, its in self.seen.items():
            n = max(1, round(share * len(its)))
            train[u], test[u] = its[:-n], its[-n:]
        return train, test


class MF(torch.nn.Module):
    def __init__(self, n_users, n_items, dim=16):
        super().__init__()
        self.u = torch.nn.Embedding(n_users, dim)
        self.i = torch.nn.Embedding(n_items, dim)
        self.b = torch.nn.Embedding(n_items, 1)
        for e in (self.u, self.i):
            torch.nn.init.normal_(e.weight, std=0.1)
        torch.nn.init.zeros_(self.b.weight)

    def score(self, u, i):
        return (self.u(u) * self.i(i)).sum(-1) + self.b(i).squeeze(-1)

    def all_scores(self, u):
        return self.u(u) @ self.i.weight.T + self.b.weight.T


def epoch_pairs(train, n_items):
    us, pos, neg = [], [], []
    for u, its in train.items():
        own = set(its)
        for i in its:
            for _ in range(2):
                j = random.randrange(n_items)
                while j in own:
                    j = random.randrange(n_items)
                us.append(u); pos.append(i); neg.append(j)
    return torch.tensor(us), torch.tensor(pos), torch.tensor(neg)


def recall_at_k(model, train, test, k=K):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for u, wanted in test.items():
            s = model.all_scores(torch.tensor([u]))[0]
            top = s.topk(k).indices.tolist()
            total += len(set(top) & set(wanted)) / min(k, len(wanted))
    return total / len(test)


data = Interactions("ratings.dat")
train, test = data.leave_last()
print(f"{len(data.users)} users, {len(data.items)} films, {sum(map(len, train.values()))} training and {sum(map(len, test.values()))} test views")
model = MF(len(data.users), len(data.items))
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=3e-5)
for ep in range(1, 19):
    model.train()
    us, pos, neg = epoch_pairs(train, len(data.items))
    perm = torch.randperm(len(us))
    tot = 0.0
    for b in perm.split(512):
        loss = -torch.nn.functional.logsigmoid(model.score(us[b], pos[b]) - model.score(us[b], neg[b])).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
    if ep % 3 == 0:
        print(f"epoch {ep:2d} bpr {tot / len(us):.4f} recall@{K} {recall_at_k(model, train, test):.4f}")
