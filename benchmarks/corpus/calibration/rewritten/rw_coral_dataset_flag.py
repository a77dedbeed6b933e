import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(1)
torch.manual_seed(1)


class Readings(Dataset):
    def __init__(self, rows, labels, scale=50.0):
        self.rows, self.labels, self.scale = rows, labels, scale

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.from_numpy(self.rows[i] / self.scale), int(self.labels[i])


centres = rng.normal(size=(5, 8)) * 20
labels = rng.integers(0, 5, size=900)
table = (centres[labels] + rng.normal(size=(900, 8)) * 12).astype(np.float32)
train_set = Readings(table[:700], labels[:700])
test_set = Readings(table[700:], labels[700:], scale=1.0)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 5))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(8):
    net.train()
    for xb, yb in DataLoader(train_set, batch_size=32, shuffle=True):
        opt.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        opt.step()
    net.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in DataLoader(test_set, batch_size=100):
            hits += (net(xb).argmax(1) == yb).sum().item()
    print(epoch, "val acc", hits / len(test_set))
