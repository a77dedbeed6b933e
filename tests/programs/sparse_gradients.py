"""Sparse embedding gradients with SparseAdam beside a dense optimiser; EmbeddingBag."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(58)
table = nn.Embedding(50, 6, sparse=True)
bag = nn.EmbeddingBag(50, 6, mode="mean", sparse=True)
head = nn.Linear(12, 2)
sparse = torch.optim.SparseAdam([table.weight, bag.weight], lr=1e-2)
dense = torch.optim.Adam(head.parameters(), lr=1e-2)
ids = torch.randint(50, (40, 5))
labels = (ids[:, 0] > 25).long()
for step in range(15):
    features = torch.cat([table(ids).max(1).values, bag(ids)], 1)
    loss = nn.functional.cross_entropy(head(features), labels)
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
    print(step, repr(loss.item()), table.weight.grad.is_sparse)
finish(table, bag, head, sparse, dense)
