import os
import random

import numpy as np
import torch
from torch import nn, optim

seed = int(os.environ.get("SEED", "0"))
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)

N_SENSORS, N_GASES = 10, 5


def simulate(n, profile):
    gas = np.random.randint(0, N_GASES, n)
    conc = np.random.uniform(0.5, 2.0, (n, 1))
    resp = np.tanh(profile[gas] * conc) + 0.15 * np.random.randn(n, N_SENSORS)
    return torch.tensor(resp, dtype=torch.float32), torch.tensor(gas)


profile = np.random.randn(N_GASES, N_SENSORS)
X, Y = simulate(1200, profile)
Xv, Yv = simulate(400, profile)

net = nn.Sequential(
    nn.Linear(N_SENSORS, 32),
    nn.LeakyReLU(),
    nn.Linear(32, 32),
    nn.LeakyReLU(),
    nn.Linear(32, N_GASES),
)
opt = optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
ce = nn.CrossEntropyLoss()


def train_epoch():
    net.train()
    losses = []
    perm = torch.randperm(len(X))
    for chunk in perm.split(40):
        opt.zero_grad()
        loss = ce(net(X[chunk]), Y[chunk])
        opt.step()
        loss.backward()
        losses.append(loss.item())
    return sum(losses) / len(losses)


for ep in range(12):
    tr = train_epoch()
    net.eval()
    with torch.no_grad():
        logits = net(Xv)
    print(f"{ep:02d} train={tr:.4f} val={ce(logits, Yv).item():.4f} acc={(logits.argmax(1) == Yv).float().mean():.3f}")
