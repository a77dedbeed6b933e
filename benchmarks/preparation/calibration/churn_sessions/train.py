import argparse
import logging

import numpy as np
import polars as pl
import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("churn")


def features(path: str) -> pl.DataFrame:
    sessions = pl.read_csv(path)
    per_user = sessions.group_by("user_id").agg(
        n=pl.len(),
        minutes_mean=pl.col("minutes").mean(),
        minutes_max=pl.col("minutes").max(),
        clicks_mean=pl.col("clicks").mean(),
        error_rate=pl.col("error").mean(),
        last_day=pl.col("day").max(),
    )
    return per_user


def standardise(a, ref):
    return (a - ref.mean(0)) / (ref.std(0) + 1e-8)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=60)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=1)
    cfg = ap.parse_args()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)

    feats = features("sessions.csv")
    users = pl.read_csv("users.csv").sort("user_id")
    assert feats.height == users.height
    log.info("users %d, churned %.1f %%", users.height, 100 * users["churned"].mean())

    x = feats.drop("user_id").to_numpy().astype("float32")
    y = users["churned"].to_numpy().astype("float32")

    perm = rng.permutation(len(x))
    test, train = perm[:400], perm[400:]
    x_train = torch.tensor(standardise(x[train], x[train]))
    x_test = torch.tensor(standardise(x[test], x[train]))
    y_train, y_test = torch.tensor(y[train]), torch.tensor(y[test])

    model = nn.Sequential(nn.Linear(x.shape[1], 24), nn.Tanh(), nn.Dropout(0.1), nn.Linear(24, 1))
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        for i in torch.randperm(len(x_train)).split(128):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x_train[i]).squeeze(1), y_train[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if (epoch + 1) % 15 == 0:
            log.info("epoch %d  bce %.4f", epoch + 1, loss.item())

    model.eval()
    with torch.no_grad():
        hit = (model(x_test).squeeze(1) > 0).float() == y_test
    print(f"test accuracy: {hit.float().mean().item():.3f}")


if __name__ == "__main__":
    main()
