"""Predict sale prices from a table of listings."""
from __future__ import annotations

import argparse
from typing import Dict, Tuple

import numpy as np
import torch
from torch import Tensor, nn

NUMERIC = ["area", "bedrooms", "age", "lot", "dist_center", "garage"]
NEIGHBOURHOODS = ["north", "south", "old_town", "harbour", "hills"]


def make_table(n: int, seed: int) -> Dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    t: Dict[str, np.ndarray] = {}
    t["area"] = rng.normal(120, 35, n).clip(35, 300)
    t["bedrooms"] = np.round(t["area"] / 35 + rng.normal(0, 0.6, n)).clip(1, 7)
    t["age"] = rng.integers(0, 90, n).astype(float)
    t["lot"] = np.exp(rng.normal(6, 0.5, n))
    t["dist_center"] = rng.gamma(2.0, 3.0, n)
    t["garage"] = rng.integers(0, 3, n).astype(float)
    t["hood"] = rng.choice(NEIGHBOURHOODS, n, p=[0.3, 0.3, 0.15, 0.15, 0.1])
    premium = {"north": 0.0, "south": -15e3, "old_town": 45e3, "harbour": 70e3, "hills": 110e3}
    price = (
        60e3
        + 1900 * t["area"]
        + 9e3 * t["bedrooms"]
        - 900 * t["age"] + 9.0 * (t["age"] - 45).clip(0) ** 2
        + 55 * t["lot"]
        - 6500 * t["dist_center"]
        + 12e3 * t["garage"]
        + np.array([premium[h] for h in t["hood"]])
    )
    price = price * np.exp(rng.normal(0, 0.05, n))
    t["price"] = price
    return t


def encode(t: Dict[str, np.ndarray], stats: Dict[str, Tuple[float, float]] | None = None):
    if stats is None:
        stats = {c: (float(t[c].mean()), float(t[c].std())) for c in NUMERIC}
    cols = [(t[c] - stats[c][0]) / stats[c][1] for c in NUMERIC]
    cols += [(t["hood"] == h).astype(float) for h in NEIGHBOURHOODS]
    x = torch.tensor(np.stack(cols, axis=1), dtype=torch.float32)
    y = torch.tensor(t["price"], dtype=torch.float32)
    return x, y, stats


class PriceNet(nn.Module):
    """Works in units of `scale` inside, answers in dollars."""

    def __init__(self, n_in: int, hidden: int, centre: float, scale: float) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 1),
        )
        self.register_buffer("centre", torch.tensor(centre))
        self.register_buffer("scale", torch.tensor(scale))

    def forward(self, x: Tensor) -> Tensor:
        return self.centre + self.scale * self.body(x)


def relative_huber(pred: Tensor, target: Tensor, scale: Tensor, delta: float = 1.0) -> Tensor:
    r = ((pred - target) / scale).abs()
    return torch.where(r < delta, 0.5 * r * r, delta * (r - 0.5 * delta)).mean()


@torch.no_grad()
def evaluate(model: nn.Module, x: Tensor, y: Tensor) -> Tuple[float, float]:
    model.eval()
    p = model(x).view(-1)
    mae = (p - y).abs().mean().item()
    r2 = 1 - ((p - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    return mae, r2.item()


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--hidden", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--weight-decay", type=float, default=1e-2)
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    x_tr, y_tr, stats = encode(make_table(2000, args.seed))
    x_va, y_va, _ = encode(make_table(500, args.seed + 1), stats)
    x_te, y_te, _ = encode(make_table(500, args.seed + 2), stats)

    model = PriceNet(x_tr.shape[1], args.hidden, y_tr.mean().item(), y_tr.std().item())
    decay = [p for n, p in model.named_parameters() if n.endswith("weight")]
    no_decay = [p for n, p in model.named_parameters() if n.endswith("bias")]
    opt = torch.optim.AdamW(
        [{"params": decay, "weight_decay": args.weight_decay},
         {"params": no_decay, "weight_decay": 0.0}],
        lr=args.lr,
    )
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=3)

    for epoch in range(1, args.epochs + 1):
        model.train()
        order = torch.randperm(len(x_tr))
        total = 0.0
        for idx in order.split(args.batch_size):
            xb, yb = x_tr[idx], y_tr[idx]
            pred = model(xb)
            loss = relative_huber(pred, yb, model.scale)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        mae, r2 = evaluate(model, x_va, y_va)
        sched.step(mae)
        if epoch % 5 == 0:
            print(f"[{epoch:3d}] train loss {total / len(x_tr):.4f}  val MAE ${mae:,.0f}  val R2 {r2:.3f}  "
                  f"lr {opt.param_groups[0]['lr']:.1e}")

    mae, r2 = evaluate(model, x_te, y_te)
    print(f"test MAE ${mae:,.0f}   test R2 {r2:.3f}")


if __name__ == "__main__":
    main()
