"""Metric learning on noisy prototypes with a triplet loss, checked by nearest-centroid accuracy."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Embedder(nn.Module):
    def __init__(self, d_in, d_out=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, 64), nn.ReLU(), nn.Linear(64, d_out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


def make(n, protos, rng):
    y = rng.integers(0, len(protos), n)
    nuisance = rng.normal(0, 1.5, (n, 10))
    x = np.concatenate([protos[y] + rng.normal(0, 0.6, (n, protos.shape[1])), nuisance], 1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def pick_triplets(y, n):
    anchor = torch.randint(0, len(y), (n,))
    same = (y[anchor][:, None] == y[None]).float()
    same[torch.arange(n), anchor] = 0
    pos = torch.multinomial(same, 1).squeeze(1)
    neg = torch.multinomial((y[anchor][:, None] != y[None]).float(), 1).squeeze(1)
    return anchor, pos, neg


@torch.no_grad()
def centroid_accuracy(model, xtr, ytr, xte, yte):
    model.eval()
    e = model(xtr)
    cents = torch.stack([e[ytr == c].mean(0) for c in range(int(ytr.max()) + 1)])
    return (torch.cdist(model(xte), cents).argmin(1) == yte).float().mean().item()


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    protos = rng.normal(0, 1, (6, 10))
    xtr, ytr = make(600, protos, rng)
    xte, yte = make(300, protos, rng)
    model = Embedder(xtr.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.TripletMarginLoss(margin=0.4)
    for it in range(1, 301):
        model.train()
        a, p, n = pick_triplets(ytr, 96)
        loss = criterion(model(xtr[a]), model(xtr[p]), model(xtr[n]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 60 == 0:
            print(f"iter {it}: triplet loss {loss.item():.4f} acc {centroid_accuracy(model, xtr, ytr, xte, yte):.3f}")


if __name__ == "__main__":
    main()
