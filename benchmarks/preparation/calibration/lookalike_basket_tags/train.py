import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(6)

orders = pd.read_csv("orders.csv").set_index("order")
lines = pd.read_csv("order_lines.csv")
tags = pd.read_csv("article_tags.csv")

tag_ids = {t: i for i, t in enumerate(sorted(tags["tag"].unique()))}

# each order becomes a bag with all tags of all its articles
bag = lines.merge(tags, on="article", how="inner")
print(f"{len(lines)} order lines -> {len(bag)} order/tag rows")
bag["tag_id"] = bag["tag"].map(tag_ids)
bags = bag.groupby("order")["tag_id"].apply(lambda s: torch.tensor(s.to_numpy()))

ids = np.random.default_rng(6).permutation(orders.index.to_numpy())
parts = {"train": ids[:1800], "test": ids[1800:]}


def batch(order_ids):
    seqs = [bags[o] for o in order_ids]
    offsets = torch.tensor([0] + [len(s) for s in seqs[:-1]]).cumsum(0)
    target = torch.tensor(orders.loc[order_ids, "home_delivery"].to_numpy(), dtype=torch.float32)
    return torch.cat(seqs), offsets, target


class TagBag(nn.Module):
    def __init__(self, n, dim=8):
        super().__init__()
        self.bag = nn.EmbeddingBag(n, dim, mode="mean")
        self.head = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, flat, offsets):
        return self.head(self.bag(flat, offsets)).squeeze(1)


model = TagBag(len(tag_ids))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    order = np.random.default_rng(epoch).permutation(parts["train"])
    total = 0.0
    for s in range(0, len(order), 60):
        flat, off, t = batch(order[s:s + 60])
        loss = nn.functional.binary_cross_entropy_with_logits(model(flat, off), t)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(t)
    print(f"epoch {epoch + 1}: {total / len(order):.4f}")

with torch.no_grad():
    flat, off, t = batch(parts["test"])
    print(f"test accuracy {((model(flat, off) > 0) == (t > 0.5)).float().mean():.3f}")
