"""Adversarial training with one gradient step on the input."""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))
EPS = 0.15


def attack(net, x, y):
    x_adv = x.clone().requires_grad_(True)
    loss = F.cross_entropy(net(x_adv), y)
    grad, = torch.autograd.grad(loss, x_adv)
    return (x + EPS * grad.sign()).detach()


def data(n, centers):
    y = torch.randint(0, 4, (n,))
    return centers[y] + 0.6 * torch.randn(n, 8), y


centers = torch.randn(4, 8) * 1.3
x_tr, y_tr = data(1600, centers)
x_te, y_te = data(500, centers)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(8):
    net.train()
    for idx in torch.randperm(1600).split(50):
        xb, yb = x_tr[idx], y_tr[idx]
        x_adv = attack(net, xb, yb)
        loss = 0.5 * F.cross_entropy(net(xb), yb) + 0.5 * F.cross_entropy(net(x_adv), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 2 == 1:
        net.eval()
        robust = (net(attack(net, x_te, y_te)).argmax(1) == y_te).float().mean().item()
        with torch.no_grad():
            clean = (net(x_te).argmax(1) == y_te).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} clean {clean:.3f} robust {robust:.3f}")
