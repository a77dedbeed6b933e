#!/usr/bin/env python3
import argparse
import copy

import numpy as np
import torch
from torch import nn


def simulate_ratings(n_users, n_items, n_ratings, seed):
    rng = np.random.default_rng(seed)
    P = rng.normal(0, 0.75, (n_users, 3))
    Q = rng.normal(0, 0.75, (n_items, 3))
    bu = rng.normal(0, 0.3, n_users)
    bi = rng.normal(0, 0.4, n_items)
    cells = rng.choice(n_users * n_items, n_ratings, replace=False)
    u, i = cells // n_items, cells % n_items
    r = 3.2 + bu[u] + bi[i] + (P[u] * Q[i]).sum(1) + rng.normal(0, 0.2, n_ratings)
    r = np.clip(np.round(r * 2) / 2, 0.5, 5.0)
    return torch.as_tensor(u), torch.as_tensor(i), torch.as_tensor(r, dtype=torch.float32)


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_items, k, mean):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, k)
        self.item_factors = nn.Embedding(n_items, k)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        self.register_buffer("mean", torch.tensor(float(mean)))
        nn.init.normal_(self.user_factors.weight, std=0.1)
        nn.init.normal_(self.item_factors.weight, std=0.1)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, u, i):
        dot = (self.user_factors(u) * self.item_factors(i)).sum(dim=1)
        return self.mean + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1) + dot


def rmse(model, u, i, r):
    model.eval()
    with torch.no_grad():
        return (model(u, i).clamp(0.5, 5.0) - r).pow(2).mean().sqrt().item()


def main(opts):
    torch.manual_seed(opts.seed)
    u, i, r = simulate_ratings(opts.users, opts.items, opts.ratings, opts.seed)
    perm = torch.randperm(len(r))
    u, i, r = u[perm], i[perm], r[perm]
    n_val = len(r) // 10
    test = (u[:n_val], i[:n_val], r[:n_val])
    valid = (u[n_val:2 * n_val], i[n_val:2 * n_val], r[n_val:2 * n_val])
    tu, ti, tr = u[2 * n_val:], i[2 * n_val:], r[2 * n_val:]

    model = MatrixFactorization(opts.users, opts.items, opts.k, tr.mean())
    optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr, weight_decay=opts.reg)
    mse = nn.MSELoss()
    best, best_state, bad = float("inf"), None, 0

    for epoch in range(opts.epochs):
        model.train()
        order = torch.randperm(len(tr))
        train_se = 0.0
        for idx in order.split(opts.batch):
            optimizer.zero_grad()
            loss = mse(model(tu[idx], ti[idx]), tr[idx])
            loss.backward()
            optimizer.step()
            train_se += loss.item() * len(idx)
        val = rmse(model, *valid)
        if epoch % 5 == 0:
            print(f"epoch {epoch:3d} train rmse {(train_se / len(tr)) ** 0.5:.4f} valid rmse {val:.4f}")
        if val < best - 1e-4:
            best, best_state, bad = val, copy.deepcopy(model.state_dict()), 0
        else:
            bad += 1
            if bad >= opts.patience:
                print(f"early stop at epoch {epoch}")
                break

    model.load_state_dict(best_state)
    constant = (test[2] - tr.mean()).pow(2).mean().sqrt().item()
    print(f"test rmse {rmse(model, *test):.4f} (predicting the mean: {constant:.4f})")


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description="biased matrix factorisation")
    ap.add_argument("--users", type=int, default=400)
    ap.add_argument("--items", type=int, default=300)
    ap.add_argument("--ratings", type=int, default=24000)
    ap.add_argument("-k", type=int, default=6)
    ap.add_argument("--lr", type=float, default=0.01)
    ap.add_argument("--reg", type=float, default=2e-5)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=60)
    ap.add_argument("--patience", type=int, default=5)
    ap.add_argument("--seed", type=int, default=5)
    main(ap.parse_args())
