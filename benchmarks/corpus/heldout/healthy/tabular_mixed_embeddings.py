"""Tabular classifier with categorical embeddings + numeric columns, BatchNorm and dropout."""
from __future__ import annotations

import argparse
import os

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, random_split


class ShopDataset(Dataset):
    """Synthetic customers: 3 categorical columns, 5 numeric ones, 4 segments."""

    def __init__(self, n: int, rng: np.random.Generator):
        self.cat = np.stack([rng.integers(0, c, n) for c in (6, 4, 10)], 1)
        self.num = rng.normal(size=(n, 5)).astype(np.float32)
        city = rng.normal(size=(6, 4))
        plan = rng.normal(size=(4, 4))
        prod = rng.normal(size=(10, 4))
        w = rng.normal(size=(5, 4))
        z = 1.5 * city[self.cat[:, 0]] + 1.5 * plan[self.cat[:, 1]] + prod[self.cat[:, 2]]
        z = z + np.abs(self.num) @ w + self.num[:, :1] * plan[self.cat[:, 1]]
        self.y = z.argmax(1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.as_tensor(self.cat[i]), torch.as_tensor(self.num[i]), int(self.y[i])


class SegmentNet(nn.Module):
    def __init__(self, cards=(6, 4, 10), dim=6, n_num=5, hidden=64, n_out=4, p=0.1):
        super().__init__()
        self.embs = nn.ModuleList(nn.Embedding(c, dim) for c in cards)
        self.trunk = nn.Sequential(
            nn.Linear(dim * len(cards) + n_num, hidden, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(),
            nn.Dropout(p),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
        )
        self.head = nn.Linear(hidden, n_out)

    def forward(self, cat, num):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.embs)]
        return self.head(self.trunk(torch.cat(e + [num], dim=1)))


def evaluate(model, loader):
    model.eval()
    good = total = 0
    with torch.no_grad():
        for c, x, y in loader:
            good += (model(c, x).argmax(1) == y).sum().item()
            total += len(y)
    return good / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=14)
    ap.add_argument("--batch-size", type=int, default=128)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    data = ShopDataset(4000, np.random.default_rng(seed))
    train, val = random_split(data, [3200, 800])
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(val, batch_size=400)

    model = SegmentNet()
    opt = optim.AdamW(model.parameters(), lr=args.lr)
    ce = nn.CrossEntropyLoss()
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for c, x, y in train_loader:
            opt.zero_grad(set_to_none=True)
            loss = ce(model(c, x), y)
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"[{epoch:02d}] loss={running / len(train_loader):.4f} val_acc={evaluate(model, val_loader):.4f}")


if __name__ == "__main__":
    main()
