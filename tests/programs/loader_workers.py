"""DataLoader with two worker processes and random augmentation in the dataset."""

import random

import numpy as np
import torch
from common import finish, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noisy(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        x = torch.from_numpy(rng.normal(size=6).astype("float32"))
        return (
            x + 0.01 * torch.rand(6) + random.random() * 0.01,
            torch.tensor([float(x.sum() > 0)]),
            get_worker_info().id,
        )


def seed_worker(worker_id):
    random.seed(torch.initial_seed() % 2**32)


if __name__ == "__main__":
    seed_everything(19)
    loader = DataLoader(Noisy(), batch_size=8, shuffle=True, num_workers=2, worker_init_fn=seed_worker)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        for x, y, worker in loader:
            optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
            loss.backward()
            optimizer.step()
            print(epoch, worker.tolist(), repr(loss.item()))
    finish(model, optimizer)
