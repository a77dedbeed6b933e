"""Metric learning with triplets: embed noisy signals so that the same "device" is near."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))
N_DEV, DIM = 30, 40
prototypes = torch.randn(N_DEV, DIM)
mixing = torch.randn(6, DIM)


def signals(dev):
    """Same device signal under a random nuisance in a 6-d subspace."""
    nuisance = torch.randn(len(dev), 6) @ mixing
    return (prototypes[dev] + nuisance + 0.5 * torch.randn(len(dev), DIM)) / 2.5


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(DIM, 96)
        self.fc2 = nn.Linear(96, 96)
        self.fc3 = nn.Linear(96, 16)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return F.normalize(self.fc3(x), dim=-1)


def retrieval_at_1(model, devices):
    model.eval()
    with torch.no_grad():
        gallery = model(signals(devices))
        query_ids = devices.repeat(20)
        dist = torch.cdist(model(signals(query_ids)), gallery)
    model.train()
    return (devices[dist.argmin(1)] == query_ids).float().mean().item()


model = Embedder()
criterion = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
all_dev = torch.arange(N_DEV)
print("untrained recall@1", round(retrieval_at_1(model, all_dev), 3))
for it in range(400):
    pos = torch.randint(0, N_DEV, (96,))
    neg = (pos + torch.randint(1, N_DEV, (96,))) % N_DEV
    a, p, n = model(signals(pos)), model(signals(pos)), model(signals(neg))
    loss = criterion(a, p, n)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 100 == 99:
        print(f"it {it + 1} triplet loss {loss.item():.4f} recall@1 {retrieval_at_1(model, all_dev):.3f}")
