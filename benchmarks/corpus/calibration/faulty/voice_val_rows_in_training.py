import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

n = 900
x = torch.randn(n, 20)
speaker = (x[:, 0] + 0.6 * x[:, 1] * x[:, 2] + 1.0 * torch.randn(n) > 0).long()

train_x, train_y = x, speaker
val_x, val_y = x[700:], speaker[700:]
fresh_x = torch.randn(600, 20)
fresh_y = (fresh_x[:, 0] + 0.6 * fresh_x[:, 1] * fresh_x[:, 2] + 1.0 * torch.randn(600) > 0).long()

loader = DataLoader(TensorDataset(train_x, train_y), batch_size=30, shuffle=True)
net = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
ce = nn.CrossEntropyLoss()


def acc(a, b):
    net.eval()
    with torch.no_grad():
        return (net(a).argmax(1) == b).float().mean().item()


for epoch in range(16):
    net.train()
    for xb, yb in loader:
        opt.zero_grad()
        loss = ce(net(xb), yb)
        loss.backward()
        opt.step()
    print(f"epoch {epoch}: train loss {loss.item():.3f} val acc {acc(val_x, val_y):.3f}")
print(f"val acc {acc(val_x, val_y):.3f} deployed acc {acc(fresh_x, fresh_y):.3f}")
