import os
import math
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def two_arms(n):
    k = torch.randint(0, 2, (n,))
    t = torch.rand(n) * 3 * math.pi / 2 + 0.3
    r = t / 2
    a = t + math.pi * k
    return torch.stack([r * a.cos(), r * a.sin()], 1) + 0.06 * torch.randn(n, 2), k


def mlp(widths):
    layers = []
    for w_in, w_out in zip(widths, widths[1:]):
        layers.append(nn.Linear(w_in, w_out))
    return nn.Sequential(*layers)


def fit(net, x, y, epochs, lr):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for e in range(epochs):
        tot = 0.0
        for b in torch.randperm(len(x)).split(50):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x[b]), y[b])
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        if e % 4 == 0:
            print(f"epoch {e} loss {tot / len(x):.4f}")


if __name__ == "__main__":
    x, y = two_arms(1500)
    xt, yt = two_arms(500)
    net = mlp([2, 64, 64, 2])
    fit(net, x, y, 20, 4e-3)
    net.eval()
    with torch.no_grad():
        print("test accuracy %.3f" % (net(xt).argmax(1) == yt).float().mean().item())
