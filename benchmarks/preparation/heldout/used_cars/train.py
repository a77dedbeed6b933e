# price model for used cars, embeddings for the text columns
import numpy as np
import polars as pl
import torch
from torch import nn

torch.manual_seed(9)

TEXT = ["brand", "fuel", "body"]
NUMBERS = ["year", "km"]


def read_cars(path):
    cars = pl.read_csv(path)
    cars = cars.with_columns(
        pl.col("year") - 2013,
        (pl.col("km") / 50_000).log1p(),
    )
    levels = {c: cars[c].unique(maintain_order=True) for c in TEXT}
    return cars.with_columns(
        pl.col(c).replace_strict(levels[c], list(range(len(levels[c])))) for c in TEXT)


class PriceNet(nn.Module):
    def __init__(self, sizes, n_numbers, dim=4):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(s, dim) for s in sizes)
        width = dim * len(sizes) + n_numbers
        self.mlp = nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, codes, numbers):
        parts = [t(codes[:, i]) for i, t in enumerate(self.tables)]
        return self.mlp(torch.cat(parts + [numbers], dim=1)).squeeze(1)


def tensors(cars):
    codes = torch.from_numpy(cars.select(TEXT).to_numpy().astype(np.int64))
    numbers = torch.from_numpy(cars.select(NUMBERS).to_numpy().astype(np.float32))
    price = torch.from_numpy(cars["price_k"].to_numpy().astype(np.float32))
    return codes, numbers, price


train, test = read_cars("cars_train.csv"), read_cars("cars_test.csv")
sizes = [train[c].n_unique() for c in TEXT]
assert all(test[c].max() < s for c, s in zip(TEXT, sizes))
print("train", train.shape, "test", test.shape, "levels", dict(zip(TEXT, sizes)))

c, n, p = tensors(train)
mid, spread = p.mean(), p.std()
n_mu, n_sd = n.mean(0), n.std(0)
net = PriceNet(sizes, len(NUMBERS))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=25)
for epoch in range(25):
    total = 0.0
    for b in torch.randperm(len(p)).split(100):
        loss = nn.functional.mse_loss(net(c[b], (n[b] - n_mu) / n_sd), (p[b] - mid) / spread)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    sched.step()
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d} mse {total / len(p):.4f}")

with torch.no_grad():
    c, n, p = tensors(test)
    guess = net(c, (n - n_mu) / n_sd) * spread + mid
r2 = 1 - ((guess - p) ** 2).sum() / ((p - p.mean()) ** 2).sum()
print(f"test RMSE {((guess - p) ** 2).mean().sqrt():.3f} k")
print(f"test R2 {r2.item():.3f}")
