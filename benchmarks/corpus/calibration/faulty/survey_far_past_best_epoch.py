import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def survey(n, w):
    x = torch.randn(n, 30)
    p = torch.sigmoid(1.2 * (x @ w))
    return x, (torch.rand(n) < p).float()


w = torch.zeros(30)
w[:5] = torch.randn(5)
x, y = survey(240, w)
xv, yv = survey(500, w)
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))
bce = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
n_epochs = 150
for epoch in range(n_epochs):
    net.train()
    for idx in torch.randperm(240).split(24):
        opt.zero_grad()
        loss = bce(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        net.eval()
        with torch.no_grad():
            out = net(xv)
            vl, va = bce(out, yv).item(), ((out > 0).float() == yv).float().mean().item()
        print(f"epoch {epoch + 1} train loss {loss.item():.4f} val loss {vl:.4f} val acc {va:.3f}")
