import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def survey(n):
    x = torch.randn(n, 9)
    y = (x[:, 0] - x[:, 1] * x[:, 2] > 0).float()
    weight = torch.rand(n) * (torch.rand(n) < 0.3)
    return x, y, weight


def weighted_bce(logit, y, w):
    per = nn.functional.binary_cross_entropy_with_logits(logit, y, reduction="none")
    return (per * w).sum() / w.sum()


x, y, w = survey(1600)
xt, yt, _ = survey(400)
loader = DataLoader(TensorDataset(x, y, w), batch_size=10, shuffle=True)
net = nn.Sequential(nn.Linear(9, 48), nn.ReLU(), nn.Linear(48, 1), nn.Flatten(0))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(6):
    net.train()
    s = 0.0
    for xb, yb, wb in loader:
        opt.zero_grad()
        loss = weighted_bce(net(xb), yb, wb)
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        acc = ((net(xt) > 0).float() == yt).float().mean().item()
    print(f"epoch {epoch} loss {s / len(loader):.4f} acc {acc:.3f}")
