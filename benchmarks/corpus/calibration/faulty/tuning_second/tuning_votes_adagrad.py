"""Who will vote? A survey of 1200 people, and much chance in the answer."""
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)

survey = rng.normal(size=(1200, 6)).astype("float32")
pull = 1.4 * survey[:, 0] - 1.1 * survey[:, 1] + 0.9 * survey[:, 2] * survey[:, 3]
vote = (rng.uniform(size=1200) < 1 / (1 + np.exp(-pull))).astype("float32")
loader = DataLoader(TensorDataset(torch.from_numpy(survey), torch.from_numpy(vote)), batch_size=24, shuffle=True)

net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adagrad(net.parameters(), lr=1e-4)
for epoch in range(40):
    total = 0.0
    for people, votes in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(net(people).squeeze(1), votes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
print(f"loss {total / len(loader):.4f}")
