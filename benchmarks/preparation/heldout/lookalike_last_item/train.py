"""Film recommender. The last film of every user is kept back for the test, the films before it train."""
import csv
import random
from collections import defaultdict

import torch
from torch import nn


class Plays:
    def __init__(self, path):
        history = defaultdict(list)
        with open(path, newline="") as fh:
            for row in csv.DictReader(fh):
                history[row["user"]].append((int(row["ts"]), row["film"]))
        self.users = sorted(history)
        self.films = sorted({f for h in history.values() for _, f in h})
        number = {f: i for i, f in enumerate(self.films)}
        self.train, self.test = [], []
        for u, name in enumerate(self.users):
            seen = [number[f] for _, f in sorted(history[name])]
            self.train += [(u, f) for f in seen[:-1]]
            self.test.append((u, seen[-1], set(seen[:-1])))


class Factors(nn.Module):
    def __init__(self, n_users, n_films, k=12):
        super().__init__()
        self.u = nn.Embedding(n_users, k)
        self.f = nn.Embedding(n_films, k)
        self.bias = nn.Embedding(n_films, 1)
        for e in (self.u, self.f, self.bias):
            nn.init.normal_(e.weight, std=0.05)

    def forward(self, users, films):
        return (self.u(users) * self.f(films)).sum(-1) + self.bias(films).squeeze(-1)


def hit_rate(model, plays, k=10):
    hits = 0
    films = torch.arange(len(plays.films))
    with torch.no_grad():
        for u, wanted, known in plays.test:
            s = model(torch.full_like(films, u), films)
            s[list(known)] = -1e9
            hits += int(wanted in s.topk(k).indices.tolist())
    return hits / len(plays.test)


def main():
    random.seed(3)
    torch.manual_seed(3)
    plays = Plays("plays.csv")
    print(len(plays.users), "users", len(plays.films), "films", len(plays.train), "plays for training")
    model = Factors(len(plays.users), len(plays.films))
    opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)
    data = torch.tensor(plays.train)
    for epoch in range(25):
        total = 0.0
        for b in data[torch.randperm(len(data))].split(256):
            other = torch.randint(len(plays.films), (len(b),))
            diff = model(b[:, 0], b[:, 1]) - model(b[:, 0], other)
            loss = -nn.functional.logsigmoid(diff).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(b)
        if epoch % 6 == 0:
            print(f"epoch {epoch:2d} loss {total / len(data):.4f}")
    print(f"by chance {10 / len(plays.films):.3f}")
    print(f"hit rate at 10: {hit_rate(model, plays):.3f}")


if __name__ == "__main__":
    main()
