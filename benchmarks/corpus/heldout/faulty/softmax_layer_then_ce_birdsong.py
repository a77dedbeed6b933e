import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
SPECIES = 16


def songs(n):
    k = torch.randint(0, SPECIES, (n,))
    t = torch.arange(40).float()
    f1 = (0.25 + 0.12 * (k % 4)).float()[:, None]
    f2 = (0.9 + 0.2 * (k // 4)).float()[:, None]
    s = torch.sin(f1 * t + 6.28 * torch.rand(n, 1)) + torch.sin(f2 * t + 6.28 * torch.rand(n, 1))
    return (s + 0.3 * torch.randn(n, 40)).unsqueeze(1), k


def net():
    return nn.Sequential(
        nn.Conv1d(1, 24, 11, padding=5), nn.ReLU(), nn.MaxPool1d(2),
        nn.Conv1d(24, 32, 7, padding=3), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(),
        nn.Linear(128, 64), nn.ReLU(),
        nn.Linear(64, SPECIES), nn.Softmax(dim=-1))


x, k = songs(1500)
xt, kt = songs(400)
model, crit = net(), nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
for ep in range(8):
    model.train()
    s = 0.0
    for xb, kb in DataLoader(TensorDataset(x, k), batch_size=30, shuffle=True):
        opt.zero_grad()
        l = crit(model(xb), kb)
        l.backward()
        opt.step()
        s += l.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xt).argmax(1) == kt).float().mean().item()
    print(f"ep {ep} loss {s / 50:.4f} acc {acc:.3f}")
