"""Which cows will need mastitis treatment within a day of the morning check?"""
import numpy as np
import polars as pl
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

SEED = 7
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

checks = pl.read_csv("checks.csv").sort("hour")
counts = pl.read_csv("cell_counts.csv").sort("hour")
counts = counts.with_columns(pl.col("log_scc").alias("scc"), pl.col("hour").alias("tested")).drop("log_scc")

data = checks.join_asof(counts, on="hour", by="cow", strategy="nearest")
data = data.with_columns(
    age_of_test=(pl.col("hour") - pl.col("tested")).abs().clip(0, 240) / 24,
)

cows = rng.permutation(data["cow"].unique().sort().to_numpy())
held = set(cows[:30].tolist())
is_test = np.array([c in held for c in data["cow"].to_list()])

cols = ["milk_kg", "conductivity", "scc", "age_of_test"]
X = data.select(cols).to_numpy().astype(np.float32)
y = data["treated_next_day"].to_numpy().astype(np.float32)
mean, std = X[~is_test].mean(0), X[~is_test].std(0)
X = (X - mean) / std
print("checks:", len(X), "treated:", int(y.sum()), "test cows:", len(held))

xtr, ytr = torch.from_numpy(X[~is_test]), torch.from_numpy(y[~is_test])
xte, yte = torch.from_numpy(X[is_test]), y[is_test]

w1 = torch.nn.Linear(len(cols), 24)
w2 = torch.nn.Linear(24, 1)
opt = torch.optim.Adam([*w1.parameters(), *w2.parameters()], lr=5e-3)


def forward(x):
    return w2(F.gelu(w1(x))).squeeze(1)


for epoch in range(15):
    perm = torch.randperm(len(xtr))
    tot = 0.0
    for idx in perm.split(128):
        loss = F.binary_cross_entropy_with_logits(forward(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    if epoch % 5 == 0 or epoch == 14:
        print(f"{epoch:02d} loss {tot / len(xtr):.4f}")

with torch.no_grad():
    auc = roc_auc_score(yte, forward(xte).numpy())
print(f"AUC on held-out cows: {auc:.3f}")
