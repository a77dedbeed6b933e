"""Movie ratings: sparse embeddings with SparseAdam, the dense tower with Adam."""
import os
import torch
from torch import nn


class RatingModel(nn.Module):
    def __init__(self, users, items, dim=12):
        super().__init__()
        self.user = nn.Embedding(users, dim, sparse=True)
        self.item = nn.Embedding(items, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)
        self.tower = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, u, i):
        eu, ei = self.user(u), self.item(i)
        return (eu * ei).sum(-1) + self.tower(torch.cat([eu, ei], -1)).squeeze(-1)


def make_ratings(n, taste, genre, ubias, ibias):
    u = torch.randint(0, len(taste), (n,))
    i = torch.randint(0, len(genre), (n,))
    r = (taste[u] * genre[i]).sum(-1) / 1.5 + ubias[u] + ibias[i] + 0.3 * torch.randn(n)
    return u, i, r


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    world = (torch.randn(80, 3), torch.randn(60, 3), 0.4 * torch.randn(80), 0.4 * torch.randn(60))
    u, i, r = make_ratings(4000, *world)
    ut, it, rt = make_ratings(1000, *world)
    model = RatingModel(80, 60)
    sparse_opt = torch.optim.SparseAdam(list(model.user.parameters()) + list(model.item.parameters()), lr=0.02)
    dense_opt = torch.optim.Adam(model.tower.parameters(), lr=2e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(9):
        model.train()
        for idx in torch.randperm(len(r)).split(100):
            sparse_opt.zero_grad()
            dense_opt.zero_grad()
            loss = loss_fn(model(u[idx], i[idx]), r[idx])
            loss.backward()
            sparse_opt.step()
            dense_opt.step()
        model.eval()
        with torch.no_grad():
            rmse = loss_fn(model(ut, it), rt).sqrt()
        print(f"epoch {epoch} batch mse {loss.item():.3f} test rmse {rmse:.3f} (spread of ratings {rt.std():.3f})")


if __name__ == "__main__":
    main()
