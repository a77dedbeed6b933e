"""
House prices, 10/50/90 % quantiles.  Everything - targets, outputs, loss - is in dollars, so don't be
surprised by a loss of 1e5.  The network works in normalised units internally and its last step maps
back with the median / IQR of the training prices.
"""
import argparse
import copy

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=80)
parser.add_argument("--patience", type=int, default=15)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--seed", type=int, default=2024)
args = parser.parse_args()

rng = np.random.default_rng(args.seed)
torch.manual_seed(args.seed)


def make_houses(n):
    area = rng.gamma(6.0, 22.0, n) + 25                    # m2
    rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.8, n)), 1, 12)
    dist = rng.exponential(7.0, n)                         # km to the centre
    year = rng.integers(1900, 2024, n)
    garden = rng.binomial(1, 0.35, n) * rng.gamma(2.0, 120.0, n)
    log_sqm = np.log(5200) - 0.045 * dist + 0.004 * (year - 1980) * (year > 1980) + 0.12 * (year < 1920)
    price = area ** 0.95 * np.exp(log_sqm) * (1 + 0.05 * (rooms > 3)) + 180 * garden
    price *= np.exp(rng.normal(0, 0.06 + 0.15 * (year < 1960), n))   # old houses: anything goes
    return np.stack([area, rooms, dist, year, garden], 1), price


X, price = make_houses(4000)
y = torch.tensor(price, dtype=torch.float32).unsqueeze(1)
tr, va, te = slice(0, 2600), slice(2600, 3200), slice(3200, 4000)
mu, sd = X[tr].mean(0), X[tr].std(0)
X = torch.tensor((X - mu) / sd, dtype=torch.float32)
print(f"prices: min {y.min():,.0f}  median {y.median():,.0f}  max {y.max():,.0f}")

QS = torch.tensor([0.1, 0.5, 0.9])


class QuantileNet(nn.Module):
    def __init__(self, n_in, loc, scale, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 3))
        self.register_buffer("loc", loc)
        self.register_buffer("scale", scale)

    def forward(self, x):
        m, lo, hi = self.body(x).split(1, dim=1)
        z = torch.cat([m - nn.functional.softplus(lo), m, m + nn.functional.softplus(hi)], 1)   # never cross
        return self.loc + self.scale * z


def pinball(pred, target):
    e = target - pred
    return torch.maximum(QS * e, (QS - 1) * e).mean()


ytr = y[tr]
iqr = ytr.quantile(0.75) - ytr.quantile(0.25)
model = QuantileNet(X.shape[1], ytr.median(), iqr)
opt = torch.optim.Adam(model.parameters(), lr=args.lr)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=4)
loader = DataLoader(TensorDataset(X[tr], ytr), batch_size=130, shuffle=True)

const = torch.quantile(ytr, QS).unsqueeze(0)
print(f"constant quantiles: val pinball {pinball(const, y[va]):,.0f}")

best, best_state, bad = float("inf"), None, 0
for epoch in range(args.epochs):
    model.train()
    tot = 0.0
    for xb, yb in loader:
        loss = pinball(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        val = pinball(model(X[va]), y[va]).item()
    sched.step(val)
    if val < best:
        best, best_state, bad = val, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
    if epoch % 8 == 0:
        print(f"epoch {epoch:3d}  train {tot / len(ytr):>10,.0f}  val {val:>10,.0f}  lr {opt.param_groups[0]['lr']:.1e}")
    if bad >= args.patience:
        print(f"no improvement for {bad} epochs, stopping at {epoch}")
        break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    p = model(X[te])
lo, med, hi = p.T
t = y[te].squeeze(1)
A = torch.cat([X, torch.ones(len(X), 1)], 1)
w = torch.linalg.lstsq(A[tr], ytr).solution
print(f"test pinball {pinball(p, y[te]):,.0f} (constant {pinball(const, y[te]):,.0f})")
print(f"test MAE {(med - t).abs().mean():,.0f}   linear regression {(A[te] @ w - y[te]).abs().mean():,.0f}   "
      f"median {(ytr.median() - t).abs().mean():,.0f}")
print(f"80% interval covers {((t > lo) & (t < hi)).float().mean():.3f}")
