"""Fill in the missing ratings of the members of our book club (matrix factorisation)."""
import argparse
import sqlite3

import pandas as pd
import torch
from torch import nn


class MF(nn.Module):
    def __init__(self, n_users, n_items, k, mean):
        super().__init__()
        self.u, self.i = nn.Embedding(n_users, k), nn.Embedding(n_items, k)
        self.bu, self.bi = nn.Embedding(n_users, 1), nn.Embedding(n_items, 1)
        for e in (self.u, self.i):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.bu, self.bi):
            nn.init.zeros_(e.weight)
        self.mean = mean

    def forward(self, user, item):
        return self.mean + self.bu(user).squeeze(-1) + self.bi(item).squeeze(-1) + (self.u(user) * self.i(item)).sum(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--k", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--wd", type=float, default=2e-5)
    a = ap.parse_args()
    torch.manual_seed(0)

    with sqlite3.connect("ratings.db") as con:
        df = pd.read_sql("SELECT user, book, stars FROM ratings", con)
    users = torch.tensor(df["user"].astype("category").cat.codes.to_numpy(), dtype=torch.long)
    items = torch.tensor(df["book"].astype("category").cat.codes.to_numpy(), dtype=torch.long)
    stars = torch.tensor(df["stars"].to_numpy(), dtype=torch.float32)

    perm = torch.randperm(len(df))
    test, train = perm[:len(df) // 5], perm[len(df) // 5:]
    net = MF(int(users.max()) + 1, int(items.max()) + 1, a.k, stars[train].mean())
    opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=a.wd)
    for ep in range(a.epochs):
        for b in train[torch.randperm(len(train))].split(128):
            loss = nn.functional.mse_loss(net(users[b], items[b]), stars[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if ep % 10 == 9:
            with torch.no_grad():
                rmse = (net(users[test], items[test]) - stars[test]).pow(2).mean().sqrt()
            print(f"epoch {ep + 1} train mse {loss.item():.3f} test RMSE {rmse:.3f}")
    print(f"mean only: {(stars[test] - stars[train].mean()).pow(2).mean().sqrt():.3f}")


if __name__ == "__main__":
    main()
