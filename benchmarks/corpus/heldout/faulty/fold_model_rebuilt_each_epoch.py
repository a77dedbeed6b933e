import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def build_network():
    return nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))


def protein(n):
    phi = torch.rand(n, 3) * 6.28 - 3.14
    x = torch.cat([phi.sin(), phi.cos()], 1)
    fold = torch.bucketize(x[:, 0] * x[:, 4] + x[:, 2] * x[:, 3], torch.tensor([-0.3, 0.3]))
    return x, fold


def train_one_epoch(loader, lr=3e-3):
    net = build_network()
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    net.train()
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item()
    return net, total / len(loader)


x, y = protein(1500)
xv, yv = protein(400)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
for epoch in range(12):
    net, tl = train_one_epoch(loader)
    net.eval()
    with torch.no_grad():
        acc = (net(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch}: train loss {tl:.4f}, val acc {acc:.3f}")
