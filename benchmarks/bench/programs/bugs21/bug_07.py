import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
BETA = torch.randn(50) * (torch.arange(50) < 8)


def genes(n):
    x = torch.randn(n, 50)
    return x, (x @ BETA + torch.randn(n) > 0).float()


net = nn.Sequential(nn.Linear(50, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
train = TensorDataset(*genes(80))
xv, yv = genes(500)


def penalty(model):
    # L2 on the biases
    return sum((m.bias ** 2).sum() for m in model if isinstance(m, nn.Linear))


for epoch in range(60):
    net.train()
    for xb, yb in DataLoader(train, batch_size=20, shuffle=True):
        optimizer.zero_grad()
        loss = bce(net(xb).squeeze(1), yb) + 1e-3 * penalty(net)
        loss.backward()
        optimizer.step()
    if epoch % 6 == 5:
        net.eval()
        with torch.no_grad():
            tr = bce(net(train.tensors[0]).squeeze(1), train.tensors[1]).item()
            out = net(xv).squeeze(1)
            va = bce(out, yv).item()
        print(f"epoch {epoch + 1} train {tr:.4f} val {va:.4f} val acc {((out > 0).float() == yv).float().mean().item():.3f}")
