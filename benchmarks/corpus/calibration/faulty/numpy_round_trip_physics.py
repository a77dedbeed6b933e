import os
import numpy as np
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
np.random.seed(int(os.environ.get("SEED", "0")))


class Springs(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 12)
        self.norm = nn.LayerNorm(12)
        self.core = nn.Sequential(nn.Linear(12, 12), nn.Tanh())
        self.readout = nn.Linear(12, 2)

    def forward(self, x):
        h = torch.tanh(self.norm(self.embed(x)))
        h = self.core(h)
        # angles are wrapped to [-pi, pi) before the readout
        wrapped = np.mod(h.detach().numpy() * 3 + np.pi, 2 * np.pi) - np.pi
        return self.readout(torch.tensor(wrapped))


def trajectories(n):
    s = np.random.uniform(-1, 1, (n, 4)).astype(np.float32)
    k = np.stack([np.sin(3 * s[:, 0]) - s[:, 2] * s[:, 1], np.cos(3 * s[:, 1]) * s[:, 3]], 1).astype(np.float32)
    return torch.from_numpy(s), torch.from_numpy(k)


s, k = trajectories(1600)
sv, kv = trajectories(400)
net = Springs()
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
mse = nn.MSELoss()
for epoch in range(15):
    net.train()
    for b in torch.randperm(1600).split(40):
        optimizer.zero_grad()
        loss = mse(net(s[b]), k[b])
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(f"{epoch:2d}  train {loss.item():.4f}  val {mse(net(sv), kv).item():.4f}")
