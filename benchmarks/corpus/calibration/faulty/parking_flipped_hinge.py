import os

import numpy as np
import torch
import torch.nn as nn

np.random.seed(int(os.environ.get("SEED", "0")))
torch.manual_seed(int(os.environ.get("SEED", "0")))


def cars(n):
    pos = np.random.uniform(-2, 2, (n, 2))
    free = (np.abs(pos[:, 0]) + np.abs(pos[:, 1]) < 1.6).astype(np.float32)
    return torch.tensor(pos, dtype=torch.float32), torch.tensor(free * 2 - 1)


def hinge(score, target):
    return torch.clamp(1 + score * target, min=0).mean()


X, T = cars(1500)
Xv, Tv = cars(500)
net = nn.Sequential(nn.Linear(2, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(15):
    net.train()
    order = torch.randperm(len(X))
    for k in range(0, len(X), 50):
        b = order[k : k + 50]
        optimizer.zero_grad()
        loss = hinge(net(X[b]).squeeze(1), T[b])
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        s = net(Xv).squeeze(1)
    print(f"epoch {epoch}: train hinge {loss.item():.3f}  val accuracy {(torch.sign(s) == Tv).float().mean().item():.3f}")
