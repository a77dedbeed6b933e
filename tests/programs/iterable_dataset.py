"""IterableDataset, custom collate with dictionaries, weighted sampler, infinite iterator, early break."""

import itertools
import random

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, WeightedRandomSampler


class Stream(IterableDataset):
    def __iter__(self):
        while True:
            x = random.uniform(-1, 1)
            yield {"x": torch.tensor([x]), "y": torch.tensor([x * 2 + 0.5])}


class Rows(Dataset):
    def __init__(self, x, y):
        self.rows = list(zip(x, y.tolist()))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    return {
        "inputs": torch.stack([r[0] for r in rows]),
        "labels": torch.tensor([r[1] for r in rows]),
        "note": "text",
    }


seed_everything(63)
line = nn.Linear(1, 1)
optimizer = torch.optim.SGD(line.parameters(), lr=0.3)
for step, batch in enumerate(itertools.islice(DataLoader(Stream(), batch_size=8), 10)):
    loss = nn.functional.mse_loss(line(batch["x"]), batch["y"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))

x, y = blobs(40)
loader = DataLoader(
    Rows(x, y), batch_size=8, sampler=WeightedRandomSampler(torch.rand(40), 40), collate_fn=collate
)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for i, batch in enumerate(loader):
        loss = nn.functional.cross_entropy(model(batch["inputs"]), batch["labels"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, repr(loss.item()))
        if i == 2:
            break
finish(line, model, optimizer)
