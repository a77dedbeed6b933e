import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
rng = np.random.default_rng(int(os.environ.get("SEED", "0")))

table = np.zeros((800, 11), dtype=np.float32)
sign = rng.integers(0, 4, 800)
proto = rng.normal(size=(4, 10))
table[:, :10] = proto[sign] + 0.7 * rng.normal(size=(800, 10))
table[:, 10] = sign

features = torch.from_numpy(table[:, :10])
labels = torch.from_numpy(table[:, 10])
loader = DataLoader(TensorDataset(features[:600], labels[:600]), batch_size=30, shuffle=True)

net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.3f}")
net.eval()
with torch.no_grad():
    print(f"test acc {(net(features[600:]).argmax(1) == labels[600:]).float().mean().item():.3f}")
