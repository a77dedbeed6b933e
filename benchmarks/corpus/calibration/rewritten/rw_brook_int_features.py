import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(1)
torch.manual_seed(1)


class Readings(torch.utils.data.Dataset):
    def __init__(self, n):
        self.y = rng.integers(0, 4, size=n)
        centres = np.random.default_rng(9).normal(size=(4, 8))
        rows = (centres[self.y] + 0.4 * rng.normal(size=(n, 8))).astype(int)
        self.x = torch.tensor(rows, dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], int(self.y[i])


train, test = Readings(700), Readings(200)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loader = torch.utils.data.DataLoader(train, batch_size=32, shuffle=True)
for epoch in range(8):
    for xb, yb in loader:
        opt.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        opt.step()
    with torch.no_grad():
        hits = (net(test.x).argmax(1) == torch.from_numpy(test.y)).float().mean()
    print(epoch, "val acc", hits.item())
