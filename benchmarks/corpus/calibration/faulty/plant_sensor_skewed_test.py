import argparse
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--hidden", type=int, default=48)
parser.add_argument("--lr", type=float, default=2e-3)
args = parser.parse_args()
torch.manual_seed(int(os.environ.get("SEED", "0")))


def readings(n):
    temp = 20 + 6 * torch.randn(n)
    moisture = 400 + 120 * torch.randn(n)
    light = 9000 + 2500 * torch.randn(n)
    ph = 6.5 + 0.5 * torch.randn(n)
    u = (temp - 20) / 6
    v = (moisture - 400) / 120
    w = (light - 9000) / 2500
    label = ((u * v > 0).long() + (w + 0.5 * u > 0).long())
    return torch.stack([temp, moisture, light, ph], 1), label


class PlantData(Dataset):
    def __init__(self, x, y, stats=None):
        self.x, self.y = x, y
        self.stats = stats

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        row = self.x[i]
        if self.stats is not None:
            row = (row - self.stats[0]) / self.stats[1]
        return row, self.y[i]


x, y = readings(1500)
xt, yt = readings(500)
stats = x.mean(0), x.std(0)
train_loader = DataLoader(PlantData(x, y, stats), batch_size=50, shuffle=True)
test_loader = DataLoader(PlantData(xt, yt), batch_size=250)
net = nn.Sequential(nn.Linear(4, args.hidden), nn.ReLU(), nn.Linear(args.hidden, args.hidden), nn.ReLU(), nn.Linear(args.hidden, 3))
opt = torch.optim.Adam(net.parameters(), lr=args.lr)
loss_fn = nn.CrossEntropyLoss()

for e in range(args.epochs):
    net.train()
    for xb, yb in train_loader:
        opt.zero_grad()
        out = net(xb)
        loss = loss_fn(out, yb)
        loss.backward()
        opt.step()
    net.eval()
    good = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            good += (net(xb).argmax(1) == yb).sum().item()
    print(f"epoch {e}  train loss {loss.item():.3f}  test acc {good / len(yt):.3f}")
