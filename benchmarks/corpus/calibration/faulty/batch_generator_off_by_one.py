"""Gesture recognition from 6 accelerometer statistics, hand-written batch generator."""
import os

import torch
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))
N_GEST = 5
centres = torch.randn(N_GEST, 3, 6) * 1.6


def recordings(n):
    g = torch.randint(0, N_GEST, (n,))
    mode = torch.randint(0, 3, (n,))
    return centres[g, mode] + 0.5 * torch.randn(n, 6), g


def batches(x, y, size):
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    for start in range(0, len(x) - size, size):
        yield x[start:start + size], y[start + 1:start + size + 1]


def init_params(sizes):
    params = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        w = (torch.randn(a, b) * (2.0 / a) ** 0.5).requires_grad_()
        params += [w, torch.zeros(b, requires_grad=True)]
    return params


def forward(params, h):
    n_layers = len(params) // 2
    for i in range(n_layers):
        h = h @ params[2 * i] + params[2 * i + 1]
        if i < n_layers - 1:
            h = F.relu(h)
    return h


def main():
    x, y = recordings(1600)
    xv, yv = recordings(400)
    params = init_params([6, 64, 64, N_GEST])
    opt = torch.optim.SGD(params, lr=0.05, momentum=0.9)
    for epoch in range(14):
        seen, total = 0, 0.0
        for xb, yb in batches(x, y, 50):
            loss = F.cross_entropy(forward(params, xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            seen += 1
        with torch.no_grad():
            acc = (forward(params, xv).argmax(1) == yv).float().mean()
        print(f"{epoch:2d} | train {total / seen:.3f} | val acc {acc:.3f}")


main()
