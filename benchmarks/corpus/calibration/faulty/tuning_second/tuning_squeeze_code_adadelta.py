import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

factors = torch.randn(300, 3)
mixing = torch.randn(3, 12)
data = torch.tanh(factors @ mixing) + 0.02 * torch.randn(300, 12)

encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
decoder = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 12))
autoencoder = nn.Sequential(encoder, decoder)
opt = torch.optim.Adadelta(autoencoder.parameters(), lr=0.001)
crit = nn.MSELoss()

BATCH = 25
for epoch in range(80):
    perm = torch.randperm(300)
    for k in range(0, 300, BATCH):
        batch = data[perm[k:k + BATCH]]
        restored = autoencoder(batch)
        loss = crit(restored, batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"loss {crit(autoencoder(data), data).item():.4f}")
