import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Concrete(Dataset):
    """Strength of concrete mixes in MPa."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.mix = rng.uniform(0, 1, (n, 6)).astype(np.float32)
        s = 35 + 30 * self.mix[:, 0] - 20 * self.mix[:, 1] ** 2 + 12 * self.mix[:, 2] * self.mix[:, 3]
        self.strength = (s + rng.normal(0, 1.0, n)).astype(np.float32)

    def __len__(self):
        return len(self.mix)

    def __getitem__(self, i):
        return self.mix[i], self.strength[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 32)
        self.b = nn.Linear(32, 1)

    def forward(self, x):
        return torch.tanh(self.b(torch.relu(self.a(x))))


torch.manual_seed(int(os.environ.get("SEED", 0)))
train, val = DataLoader(Concrete(800, 0), 32, shuffle=True), DataLoader(Concrete(200, 1), 200)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for epoch in range(20):
    for x, y in train:
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
    with torch.no_grad():
        x, y = next(iter(val))
        mae = (net(x).squeeze(1) - y).abs().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} val mae {mae:.4f}")
