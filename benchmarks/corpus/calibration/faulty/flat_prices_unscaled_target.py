import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def market(n):
    area = 30 + 120 * torch.rand(n)
    rooms = 1 + (area / 30).floor()
    dist = 15 * torch.rand(n)
    floor = torch.randint(0, 12, (n,)).float()
    price = 2500 * area + 9000 * rooms + 60000 * torch.exp(-dist / 5) * (area / 80) + 1500 * floor + 8000 * torch.randn(n)
    x = torch.stack([(area - 90) / 35, (rooms - 3.5) / 1.2, (dist - 7.5) / 4.3, (floor - 5.5) / 3.5], 1)
    return x, price


def train(model, x, y, epochs=30, bs=50, lr=1e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    lossfn = nn.MSELoss()
    for e in range(epochs):
        total = 0.0
        for b in torch.randperm(len(x)).split(bs):
            opt.zero_grad()
            loss = lossfn(model(x[b]).squeeze(-1), y[b])
            loss.backward()
            opt.step()
            total += loss.item() * len(b)
        if (e + 1) % 5 == 0:
            print(f"epoch {e + 1} mse {total / len(x):.6g}")


x_tr, y_tr = market(1000)
x_te, y_te = market(300)
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
train(net, x_tr, y_tr)
net.eval()
with torch.no_grad():
    pred = net(x_te).squeeze(-1)
r2 = 1 - ((pred - y_te) ** 2).mean() / y_te.var()
print(f"test R2 {r2.item():.3f}")
