"""Weekly artist suggestions for the listeners we have (new listeners get the charts)."""
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(16)
rng = np.random.default_rng(16)

plays = pd.read_csv("plays.tsv.gz", sep="\t")
plays = plays.sort_values(["listener", "week", "artist"], kind="stable")
plays["u"] = plays["listener"].astype("category").cat.codes.astype("int64")
plays["a"] = plays["artist"].astype("category").cat.codes.astype("int64")
n_u, n_a = plays["u"].max() + 1, plays["a"].max() + 1

from_end = plays.groupby("u").cumcount(ascending=False)
train, test = plays[from_end >= 2], plays[from_end < 2]
assert set(test["u"]) == set(train["u"])
print(f"{n_u} listeners, {n_a} artists, {len(train)} plays to train on, {len(test)} held out (two per listener)")

known = np.zeros((n_u, n_a), dtype=bool)
known[train["u"], train["a"]] = True
known = torch.from_numpy(known)


class TwoTower(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.user = nn.Embedding(n_u, dim)
        self.artist = nn.Embedding(n_a, dim)
        self.bias = nn.Parameter(torch.zeros(n_a))
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.artist.weight, std=0.1)

    def forward(self, u):
        return self.user(u) @ self.artist.weight.T + self.bias


model = TwoTower()
opt = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-4)
users = torch.tensor(train["u"].to_numpy())
artists = torch.tensor(train["a"].to_numpy())
weight = torch.from_numpy(np.log1p(train["plays"].to_numpy())).float()

for epoch in range(25):
    model.train()
    total = 0.0
    for b in torch.randperm(len(users)).split(512):
        nll = nn.functional.cross_entropy(model(users[b]), artists[b], reduction="none")
        loss = (nll * weight[b]).sum() / weight[b].sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / len(users):.3f}")

model.eval()
with torch.no_grad():
    s = model(torch.arange(n_u)).masked_fill(known, -1e9)
    top = s.topk(10, dim=1).indices
hit = (top[torch.tensor(test["u"].to_numpy())] == torch.tensor(test["a"].to_numpy())[:, None]).any(1).float().mean()
chart = torch.from_numpy(train["a"].value_counts().index.to_numpy()[:10].copy())
base = torch.isin(torch.tensor(test["a"].to_numpy()), chart).float().mean()
print(f"charts hit@10 {base:.3f}")
print(f"hit@10 {hit:.3f}")
